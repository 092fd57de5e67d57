/* Runs behind a page of frames, one for each width: whether their pages can be read. */
function channels(colour) {
  const parts = colour.match(/[\d.]+/g).map(Number);
  return parts.length < 4 ? [...parts, 1] : parts;
}

function light([red, green, blue]) {
  const [r, g, b] = [red, green, blue].map(part => part / 255).map(part => part <= .04045 ? part / 12.92 : ((part + .055) / 1.055) ** 2.4);
  return .2126 * r + .7152 * g + .0722 * b;
}

function ratio(one, other) {
  const [low, high] = [light(one), light(other)].sort((left, right) => left - right);
  return (high + .05) / (low + .05);
}

/* The colour that a shape is filled with; of a pattern the colour of its ground. */
function fillOf(shape, view) {
  let fill = view.getComputedStyle(shape).fill;
  const name = fill.match(/url\("?#([^")]*)"?\)/);
  if (name !== null) fill = view.getComputedStyle(shape.ownerDocument.getElementById(name[1]).firstElementChild).fill;
  return fill === 'none' ? null : channels(fill);
}

/* Behind the letters of a picture is the last shape before them that holds their middle, else what is behind the picture. */
function ground(element, box, view) {
  const svg = element.closest('svg'), x = (box.left + box.right) / 2, y = (box.top + box.bottom) / 2;
  if (svg !== null) {
    const before = [...svg.querySelectorAll('rect')].filter(shape => shape.compareDocumentPosition(element) & Node.DOCUMENT_POSITION_FOLLOWING &&
      shape.closest('defs, pattern') === null);
    for (const shape of before.reverse()) {
      const area = shape.getBoundingClientRect(), fill = fillOf(shape, view);
      if (fill !== null && fill[3] > .5 && area.left <= x && x <= area.right && area.top <= y && y <= area.bottom) return fill;
    }
  }
  for (let at = svg ?? element; at !== null; at = at.parentElement) {
    const colour = channels(view.getComputedStyle(at).backgroundColor);
    if (colour[3] > .5) return colour;
  }
  return view.matchMedia('(prefers-color-scheme: dark)').matches ? [18, 18, 18, 1] : [255, 255, 255, 1];
}

function isSeen(element, view) {
  const style = view.getComputedStyle(element);
  return style.visibility === 'visible' && style.display !== 'none' && Number(style.opacity) > .1;
}

function lookAt(frame) {
  const page = frame.contentDocument, view = frame.contentWindow, root = page.documentElement, weak = new Set(), cut = new Set();
  page.querySelectorAll('details').forEach(part => { part.open = true; });
  const walk = page.createTreeWalker(page.body, NodeFilter.SHOW_TEXT);
  let texts = 0;
  while (walk.nextNode()) {
    const element = walk.currentNode.parentElement, range = page.createRange();
    if (walk.currentNode.data.trim() === '' || element.closest('script, style, title, noscript, option') !== null || !isSeen(element, view)) continue;
    range.selectNodeContents(walk.currentNode);
    const box = range.getBoundingClientRect();
    if (box.width === 0 || box.height === 0) continue;
    texts++;
    const style = view.getComputedStyle(element), inPicture = element.closest('svg') !== null;
    const found = ratio(channels(inPicture ? style.fill : style.color), ground(element, box, view));
    if (!(found >= 4.5)) weak.add(walk.currentNode.data.trim().slice(0, 30) + ' ' + found.toFixed(2));
    const block = element.closest('pre'); /* blanks at the end of a line hang over it */
    const over = block !== null ? block.scrollWidth > block.clientWidth + 1 : box.right + view.scrollX > root.clientWidth + 1;
    if (over && !inPicture) cut.add(walk.currentNode.data.trim().slice(0, 30));
  }
  const name = frame.width + ' ';
  say(name + 'texts', texts > 5 ? 'many' : texts);
  say(name + 'sideways', root.scrollWidth > root.clientWidth ? root.scrollWidth - root.clientWidth : 'no');
  say(name + 'cut', [...cut].join(', ') || 'nothing');
  say(name + 'hard to read', [...weak].slice(0, 8).join(', ') || 'nothing');
}

const frames = [...document.querySelectorAll('iframe')];
onload = () => {
  frames.forEach(lookAt);
  say('theme', matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light');
  say('done', true);
};
