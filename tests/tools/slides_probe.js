/* Runs behind the slides and probe.js: goes through them by keys as a lecturer would. */
const press = name => dispatchEvent(new KeyboardEvent('keydown', {key: name, cancelable: true}));
const shown = () => document.querySelectorAll('section.shown');
const seen = () => [...shown()[0].querySelectorAll('.step.shown')].length;

say('slides', slides.length);
say('titles', slides.filter(slide => slide.classList.contains('title')).map(slide => slide.querySelector('h2').textContent[0]).length);
press('Home');
say('first', shown().length + ' shown: ' + shown()[0].querySelector('h2').textContent);
press('ArrowRight');
say('steps', seen() + ' of ' + stepsOf(slides[at]).length);
press('ArrowRight');
say('after a key', seen() + ' on slide ' + (at + 1));
press('ArrowLeft');
say('back', at + 1);
press('ArrowDown');
say('next lesson', shown()[0].querySelector('h2').textContent);
press('n');
say('notes', getComputedStyle(shown()[0].querySelector('aside')).display);
press('n');
say('no notes', getComputedStyle(shown()[0].querySelector('aside')).display);

/* Each slide comes by the key alone, and every step has been seen by then. */
say('address', location.hash);
history.replaceState = () => {}; /* a browser lets no program do that so often */
press('Home');
let presses = 0, spoiled = [];
while (at < slides.length - 1 && presses < 2000) {
  const before = at, open = stepsOf(slides[at]).filter(step => !step.classList.contains('shown')).length;
  press('ArrowRight');
  presses++;
  if (at !== before && open > 0) spoiled.push(before + 1);
}
say('reached', at + 1 === slides.length && spoiled.length === 0);
const question = slides.findIndex(slide => /^(What will be printed\?|会输出什么？)$/.test(slide.querySelector('h2').textContent));
say('question', slides[question].textContent.includes('making the picture white') ? 'has the answer' : 'has no answer');
say('answer', slides[question + 1].textContent.includes('making the picture white'));
const overflow = slides.filter((slide, i) => { show(i, true); return document.documentElement.scrollWidth > innerWidth; });
say('too wide', overflow.length);

/* What of the slide that is shown lies outside of it, or reaches the counter: in the window's pixels. */
function strays(slide) {
  const frame = slide.getBoundingClientRect(), counter = document.createRange(), found = [];
  counter.selectNodeContents(nav);
  const corner = counter.getBoundingClientRect();
  for (const part of slide.querySelectorAll('h2, p, li, pre, td, svg')) {
    const box = part.getBoundingClientRect();
    if (part.closest('aside') !== null || box.width === 0) continue;
    if (box.left < frame.left - 1 || box.right > frame.right + 1 || box.bottom > frame.bottom + 1) found.push('outside');
    if (box.right > corner.left && box.bottom > corner.top && box.left < corner.right && box.top < corner.bottom) found.push('counter');
    if (part.scrollWidth > part.clientWidth + 1 && part.matches('pre, td')) found.push('cut');
  }
  const words = slide.querySelector('.words');
  if (words.scrollHeight > words.offsetHeight + 1 || words.offsetTop + words.offsetHeight > HEIGHT - 50) found.push('down');
  if (Number.parseFloat(getComputedStyle(words).fontSize) < 16) found.push('small');
  return found;
}
const stray = slides.map((slide, i) => { show(i, true); return strays(slide).map(what => what + ' on ' + (i + 1)); }).flat();
say('theme', matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light');
const lying = [], pale = [];
slides.forEach((slide, i) => {
  show(i, true);
  const texts = reading.textsOf(slide, window).concat(reading.textsOf(nav, window));
  lying.push(...reading.overlaps(texts, window).map(what => what + ' of ' + (i + 1)));
  pale.push(...texts.filter(text => !(reading.contrast(text, window) >= 4.5)).map(text => text.text + ' of ' + (i + 1)));
});
say('overlaps', lying.slice(0, 8).join(', ') || 'none');
say('weak', pale.slice(0, 8).join(', ') || 'none');
const tiny = slides.map((slide, i) => {
  show(i, true);
  const drawn = slide.querySelector('svg');
  return drawn === null ? 99 : 12 * drawn.getBoundingClientRect().width / drawn.viewBox.baseVal.width * WIDTH / slide.getBoundingClientRect().width;
});
say('smallest letters of a picture', Math.min(...tiny) >= 9 ? 'can be read' : Math.min(...tiny).toFixed(1));
say('strays', stray.length === 0 ? 'none' : stray.join(', '));
const stage = shown()[0].getBoundingClientRect();
say('stage', Math.abs(stage.width - Math.min(innerWidth, innerHeight * 16 / 9)) < 2 ? 'fills the window' : 'is too small');
say('scrolls', document.documentElement.scrollHeight > innerHeight || document.documentElement.scrollWidth > innerWidth);
/* The panels of the picture that are in sight: within the view of it. */
function inSight(svg) {
  const view = svg.viewBox.baseVal;
  return [...svg.querySelectorAll('.panel')].filter(panel => {
    const step = panel.parentElement, moved = step.transform.baseVal.consolidate()?.matrix;
    const x = Number(panel.getAttribute('x')) + (moved?.e ?? 0), y = Number(panel.getAttribute('y')) + (moved?.f ?? 0);
    return getComputedStyle(step).visibility === 'visible' && x >= view.x && x < view.x + view.width && y >= view.y && y < view.y + view.height;
  }).length;
}
const pictured = slides.findIndex(slide => slide.querySelector('svg') !== null), svg = slides[pictured].querySelector('svg');
show(pictured, false);
const first = inSight(svg);
press('ArrowRight');
press('ArrowRight');
say('panels', first + ' then ' + inSight(svg) + ' of ' + svg.querySelectorAll('.step.shown').length);
show(pictured, true);
say('whole', inSight(svg) === svg.querySelectorAll('.panel').length);
const ids = [...document.querySelectorAll('pattern')].map(pattern => pattern.id);
const used = [...document.querySelectorAll('svg [fill^=url]')].map(shape => shape.getAttribute('fill').slice(5, -1));
say('fills', new Set(ids).size === ids.length && used.length > 100 && used.every(id => ids.includes(id)) ? 'good' : 'bad');
say('done', true);
