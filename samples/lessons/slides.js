/* Keys: right, space, page down: the next step or slide; left, page up: back; up, down: the lesson before, the next one;
 * n: notes. The address keeps the slide. */
'use strict';
const slides = [...document.querySelectorAll('section')], nav = document.querySelector('nav');
const [MORE, OF, NOTES] = document.documentElement.lang === 'en' ? [' more · ', ' of ', ' · n: notes'] : [' 步未显示 · ', ' / ', ' · n：讲稿'];
let at = 0;

function stepsOf(slide) {
  return [...slide.querySelectorAll('.step')];
}

/* Shows of a picture the last panel in sight and the one before it, and all of it when all was shown. */
/* Scales the pages of 1280 x 720 to the window; with notes below them they leave room. */
const WIDTH = 1280, HEIGHT = 720;
function scale() {
  const notes = document.body.classList.contains('notes');
  const factor = Math.min(document.documentElement.clientWidth / WIDTH, innerHeight * (notes ? 0.6 : 1) / HEIGHT);
  const left = (document.documentElement.clientWidth - WIDTH * factor) / 2, top = notes ? 0 : Math.max(0, (innerHeight - HEIGHT * factor) / 2);
  for (const part of [...slides, nav]) part.style.transform = 'translate(' + left + 'px,' + top + 'px) scale(' + factor + ')';
}

/* Makes the letters of a slide as large as fit on its page, and long programs two columns. */
function fit(slide) {
  const parts = slide.querySelector('.words');
  slide.querySelectorAll('pre').forEach(block => block.classList.toggle('wide', block.textContent.split('\n').length > 28));
  const room = HEIGHT - 56 - parts.offsetTop;
  slide.querySelectorAll('svg').forEach(picture => { picture.style.maxHeight = Math.min(540, room) + 'px'; });
  for (let size = 36; size >= 12; size--) {
    parts.style.fontSize = size + 'px';
    if (parts.offsetHeight <= room && parts.scrollWidth <= parts.clientWidth) return;
  }
}

const number = (shape, name) => Number(shape.getAttribute(name));
function zoom(slide) {
  const svg = slide.querySelector('svg');
  if (svg === null) return;
  const panels = [...svg.querySelectorAll('.step')], whole = stepsOf(slide).every(step => step.classList.contains('shown'));
  const last = panels.filter(panel => panel.classList.contains('shown')).pop().querySelector('.panel');
  const width = number(last, 'width') + 10, left = Math.max(0, number(last, 'x') - 10 - width);
  const view = whole ? [0, 0, number(svg, 'width'), number(svg, 'height')]
    : [left, number(last, 'y') - 5, 2 * width + 10, number(last, 'height') + 10];
  svg.setAttribute('viewBox', view.join(' '));
  svg.style.aspectRatio = view[2] + ' / ' + view[3];
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
