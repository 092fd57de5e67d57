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
const question = slides.findIndex(slide => slide.querySelector('h2').textContent === 'What will be printed?');
say('question', slides[question].textContent.includes('making the picture white') ? 'has the answer' : 'has no answer');
say('answer', slides[question + 1].textContent.includes('making the picture white'));
const overflow = slides.filter((slide, i) => { show(i, true); return document.documentElement.scrollWidth > innerWidth; });
say('too wide', overflow.length);
/* The panels of the picture that are in sight: within the view of it. */
function inSight(svg) {
  const view = svg.viewBox.baseVal;
  return [...svg.querySelectorAll('.panel')].filter(panel => {
    const x = Number(panel.getAttribute('x')), y = Number(panel.getAttribute('y')), step = panel.parentElement;
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
