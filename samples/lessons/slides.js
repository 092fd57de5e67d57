/* Keys: right, space, page down: the next step or slide; left, page up: back; up, down: the lesson before, the next one;
 * n: notes. The address keeps the slide. */
'use strict';
const slides = [...document.querySelectorAll('section')], nav = document.querySelector('nav');
const [MORE, OF, NOTES] = document.documentElement.lang === 'en' ? [' more · ', ' of ', ' · n: notes'] : [' 步未显示 · ', ' / ', ' · n：讲稿'];
let at = 0;

function stepsOf(slide) {
  return [...slide.querySelectorAll('.step')];
}

/* Scales the pages of 1280 x 720 to the window; with notes below them they leave room. */
const WIDTH = 1280, HEIGHT = 720;
function scale() {
  const notes = document.body.classList.contains('notes');
  const factor = Math.min(document.documentElement.clientWidth / WIDTH, innerHeight * (notes ? 0.6 : 1) / HEIGHT);
  const left = (document.documentElement.clientWidth - WIDTH * factor) / 2, top = notes ? 0 : Math.max(0, (innerHeight - HEIGHT * factor) / 2);
  for (const part of [...slides, nav]) part.style.transform = 'translate(' + left + 'px,' + top + 'px) scale(' + factor + ')';
}

const number = (shape, name) => Number(shape.getAttribute(name));

/* Puts the panels of a picture in so many columns (0: where they are drawn) and its legend below them; gives the size of the whole. */
function layOut(svg, columns) {
  const panels = [...svg.querySelectorAll('.panel')], steps = panels.map(panel => panel.closest('.step'));
  const bottom = Math.max(...panels.map(panel => number(panel, 'y') + number(panel, 'height'))), width = number(panels[0], 'width') + 9;
  let top = number(panels[0], 'y'), high = 0;
  const left = number(panels[0], 'x');
  panels.forEach((panel, i) => {
    if (columns === 0) return steps[i].removeAttribute('transform');
    if (i % columns === 0 && i > 0) [top, high] = [top + high + 9, 0];
    steps[i].setAttribute('transform', 'translate(' + (left + i % columns * width - number(panel, 'x')) + ' ' + (top - number(panel, 'y')) + ')');
    high = Math.max(high, number(panel, 'height'));
  });
  const below = columns === 0 ? 0 : top + high - bottom;
  svg.querySelectorAll(':scope > text').forEach(text => {
    if (below === 0) text.removeAttribute('transform'); else text.setAttribute('transform', 'translate(0 ' + below + ')');
  });
  return [columns === 0 ? number(svg, 'width') : Math.max(2 * left + columns * width - 9, number(svg, 'width') / 2), number(svg, 'height') + below];
}

/* The columns in which the letters of a whole picture are largest. */
function columnsOf(svg, room) {
  let best = 0, largest = 0;
  for (let columns = 2; columns <= 6; columns++) {
    const [wide, high] = layOut(svg, columns), scale = Math.min((WIDTH - 112) / wide, room / high);
    if (scale > largest) [best, largest] = [columns, scale];
  }
  return best;
}

function see(svg, view) {
  svg.setAttribute('viewBox', view.join(' '));
  svg.style.aspectRatio = view[2] + ' / ' + view[3];
}

/* Makes the letters of a slide as large as fit on its page, and long programs two columns. */
function fit(slide) {
  const parts = slide.querySelector('.words');
  slide.querySelectorAll('pre').forEach(block => block.classList.toggle('wide', block.textContent.split('\n').length > 28));
  const room = HEIGHT - 56 - parts.offsetTop;
  slide.querySelectorAll('svg').forEach(picture => {
    parts.style.fontSize = '22px'; /* of what stands beside the picture */
    picture.style.display = 'none';
    picture.style.maxHeight = Math.min(540, room - parts.offsetHeight - 8) + 'px';
    picture.style.display = '';
    see(picture, [0, 0, ...layOut(picture, columnsOf(picture, 540))]);
  });
  for (let size = 36; size >= 12; size--) {
    parts.style.fontSize = size + 'px';
    if (parts.offsetHeight <= room && parts.scrollWidth <= parts.clientWidth) return;
  }
}

/* Shows of a picture the last panel in sight and the one before it, and all of it when all was shown. */
function zoom(slide) {
  const svg = slide.querySelector('svg');
  if (svg === null) return;
  const panels = [...svg.querySelectorAll('.step')], whole = stepsOf(slide).every(step => step.classList.contains('shown'));
  const last = panels.filter(panel => panel.classList.contains('shown')).pop().querySelector('.panel');
  const width = number(last, 'width') + 10, left = Math.max(0, number(last, 'x') - 10 - width);
  const size = layOut(svg, whole ? columnsOf(svg, 540) : 0), view = whole ? [0, 0, ...size]
    : [left, number(last, 'y') - 5, 2 * width + 10, number(last, 'height') + 10];
  see(svg, view);
}

function show(wanted, whole) {
  at = Math.max(0, Math.min(slides.length - 1, wanted));
  slides.forEach((slide, i) => slide.classList.toggle('shown', i === at));
  stepsOf(slides[at]).forEach((step, i) => step.classList.toggle('shown', whole || i === 0));
  tell();
}

function tell() {
  const left = stepsOf(slides[at]).filter(step => !step.classList.contains('shown')).length;
  nav.textContent = (left > 0 ? left + MORE : '') + (at + 1) + OF + slides.length + NOTES;
  zoom(slides[at]);
  history.replaceState(null, '', '#' + (at + 1));
  scrollTo(0, 0);
}

function onward() {
  const next = stepsOf(slides[at]).find(step => !step.classList.contains('shown'));
  if (next === undefined) return show(at + 1, false);
  next.classList.add('shown');
  tell();
}

function lesson(direction) {
  for (let i = at + direction; i >= 0 && i < slides.length; i += direction)
    if (slides[i].classList.contains('title')) return show(i, false);
}

const keys = {
  ArrowRight: onward, ' ': onward, PageDown: onward,
  ArrowLeft: () => show(at - 1, true), PageUp: () => show(at - 1, true),
  ArrowDown: () => lesson(1), ArrowUp: () => lesson(-1), Home: () => show(0, false), End: () => show(slides.length - 1, true),
  n: () => { document.body.classList.toggle('notes'); scale(); },
};
addEventListener('keydown', event => {
  if (keys[event.key] === undefined || event.ctrlKey || event.altKey || event.metaKey) return;
  event.preventDefault();
  keys[event.key]();
});
addEventListener('click', onward);
addEventListener('beforeprint', () => slides.forEach(slide => {
  stepsOf(slide).forEach(step => step.classList.add('shown'));
  zoom(slide);
}));
addEventListener('resize', scale);

/* A slide has a size while it is shown alone. */
slides.forEach(slide => {
  slide.classList.add('shown');
  fit(slide);
  slide.classList.remove('shown');
});
scale();
show(Number(location.hash.slice(1)) - 1 || 0, false);
