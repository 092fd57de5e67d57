/* Runs in a page with pictures of ctxrt draw and their JSON, behind probe.js: compares the two. */
const all = (picture, selector) => [...picture.querySelectorAll(selector)];
const fillOf = shape => getComputedStyle(shape).fill.replace(/^url\("#(.*)"\)$/, '$1');

function compare(picture, json) {
  const frames = (json.threads || []).reduce((so, thread) => so + thread.frames.length, 0) + (json.detached || []).length;
  const blocks = (json.segments || []).reduce((so, segment) => so + segment.blocks.length, 0);
  return [['.frame', frames], ['.box.context', (json.contexts || []).length], ['title', blocks]]
    .filter(([selector, count]) => all(picture, selector).length !== count)
    .map(([selector, count]) => selector + ' ' + all(picture, selector).length + ' for ' + count).join(', ') || 'nothing';
}

/* Texts and shapes that reach out of the picture. */
function countOutside(picture) {
  const view = picture.getBoundingClientRect();
  return all(picture, 'rect, text').filter(shape => {
    const box = shape.getBoundingClientRect();
    return box.left < view.left - 1 || box.right > view.right + 1 || box.top < view.top - 1 || box.bottom > view.bottom + 1;
  }).length;
}

[...document.querySelectorAll('svg')].forEach((picture, number) => {
  const json = JSON.parse(document.querySelectorAll('script[type="application/json"]')[number].textContent);
  const tile = picture.querySelector('pattern .fill');
  say(number + ' different', compare(picture, json));
  say(number + ' outside', countOutside(picture));
  say(number + ' fills', all(picture, '.frame, .box.context, rect.block').map(fillOf).join(' '));
  const used = all(picture, '[fill^=url]').map(fillOf);
  say(number + ' undefined', used.filter(id => picture.querySelector('#' + id) === null).join(' ') || 'nothing');
  const name = tile.parentElement.id;
  say(number + ' tile', name + ' ' + (getComputedStyle(tile).getPropertyValue('--fill') === colourOf(name.split('-')[0])));
  say(number + ' background', fillOf(picture.querySelector('rect')));
  say(number + ' hover', all(picture, 'title').map(title => title.textContent).join('; '));
  const texts = all(picture, 'text').map(text => text.textContent);
  say(number + ' legend', texts.filter(text => /^(current|foreign|colour|live|cached|quar|free)/.test(text)).join('; '));
});
sayColours();
say('done', true);
