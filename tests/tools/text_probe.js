/* Comes behind probe.js: whether the texts of a page lie on each other, and how they stand out from what is behind them; also those of
 * pictures and of a canvas. */
const reading = (() => {
  function channels(colour) {
    const hex = colour.match(/^#(..)(..)(..)$/);
    if (hex !== null) return [...hex.slice(1).map(part => parseInt(part, 16)), 1];
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

  /* The texts that are seen within an element, each with its element and its box; also what is outside of a part that scrolls. */
  function textsOf(root, view) {
    const walk = root.ownerDocument.createTreeWalker(root, NodeFilter.SHOW_TEXT), found = [];
    while (walk.nextNode()) {
      const element = walk.currentNode.parentElement, range = root.ownerDocument.createRange();
      if (walk.currentNode.data.trim() === '' || element.closest('script, style, title, noscript, option') !== null || !isSeen(element, view)) continue;
      range.selectNodeContents(walk.currentNode);
      const box = range.getBoundingClientRect();
      if (box.width > 0 && box.height > 0) found.push({element, box, range, text: walk.currentNode.data.trim().slice(0, 30)});
    }
    return found;
  }

  /* What of a box is in sight of all parts around it that scroll or cut. */
  function inSight(element, box, view) {
    let {left, top, right, bottom} = box;
    for (let at = element.parentElement; at !== null; at = at.parentElement) {
      if (view.getComputedStyle(at).overflowX === 'visible' || at.tagName === 'BODY' || at.tagName === 'HTML' || at.tagName === 'svg') continue;
      const area = at.getBoundingClientRect();
      [left, top, right, bottom] = [Math.max(left, area.left), Math.max(top, area.top), Math.min(right, area.right), Math.min(bottom, area.bottom)];
    }
    return {left, top, right, bottom};
  }

  /* The letters of a line are in the middle of its box. */
  function core({left, top, right, bottom}) {
    const cut = (bottom - top) * .25;
    return {left: left + 1, top: top + cut, right: right - 1, bottom: bottom - cut};
  }

  function pairs(boxes) {
    const found = [];
    boxes.sort((one, other) => one.top - other.top);
    for (let i = 0; i < boxes.length; i++)
      for (let j = i + 1; j < boxes.length && boxes[j].top < boxes[i].bottom; j++)
        if (boxes[i].owner !== boxes[j].owner && boxes[i].left < boxes[j].right && boxes[j].left < boxes[i].right)
          found.push(boxes[i].text + ' on ' + boxes[j].text);
    return found;
  }

  /* The texts that lie on another one. */
  function overlaps(texts, view) {
    const boxes = [];
    for (const one of texts)
      for (const line of one.range.getClientRects()) {
        const box = core(inSight(one.element, line, view));
        if (box.left < box.right && box.top < box.bottom) boxes.push({...box, text: one.text, owner: one.range});
      }
    return pairs(boxes);
  }

  const contrast = ({element, box}, view) =>
    ratio(channels(element.closest('svg') !== null ? view.getComputedStyle(element).fill : view.getComputedStyle(element).color), ground(element, box, view));

  /* Calls `draw`, and gives what it writes on canvases: pairs that lie on each other, and texts that are hard to read. What a shape covers
   * later is not seen. The ground of a text is the colour that most of its box has before it is written. */
  function ofCanvas(view, draw) {
    const type = view.CanvasRenderingContext2D.prototype, {fillText, fillRect} = type, weak = new Set();
    let written = [], count = 0;
    const place = (pen, x, y) => new view.DOMPoint(x, y).matrixTransform(pen.getTransform());
    type.fillText = function (text, x, y, ...more) {
      const size = this.measureText(text), start = place(this, x - size.actualBoundingBoxLeft, y - size.actualBoundingBoxAscent),
        end = place(this, x + size.actualBoundingBoxRight, y + size.actualBoundingBoxDescent);
      const box = {left: Math.max(0, start.x), top: Math.max(0, start.y), right: Math.min(this.canvas.width, end.x), bottom: Math.min(this.canvas.height, end.y)};
      if (text.trim() !== '' && box.left < box.right && box.top < box.bottom) {
        const pixels = this.getImageData(box.left, box.top, Math.ceil(box.right - box.left), Math.ceil(box.bottom - box.top)).data, seen = new Map();
        for (let i = 0; i < pixels.length; i += 4) {
          const colour = pixels.slice(i, i + 3).join(' ');
          seen.set(colour, (seen.get(colour) ?? 0) + 1);
        }
        const most = [...seen].reduce((best, one) => one[1] > best[1] ? one : best)[0].split(' ').map(Number);
        const found = typeof this.fillStyle === 'string' ? ratio(channels(this.fillStyle), most) : 0;
        if (!(found >= 4.5)) weak.add(text.slice(0, 30) + ' ' + found.toFixed(2));
        written.push({...box, text: text.slice(0, 30), owner: ++count});
      }
      return fillText.call(this, text, x, y, ...more);
    };
    type.fillRect = function (x, y, wide, high) {
      const start = place(this, x, y), end = place(this, x + wide, y + high);
      written = written.filter(box => !(box.left >= start.x - 1 && box.right <= end.x + 1 && box.top >= start.y - 1 && box.bottom <= end.y + 1));
      return fillRect.call(this, x, y, wide, high);
    };
    draw();
    Object.assign(type, {fillText, fillRect});
    return {count, overlaps: pairs(written), weak: [...weak]};
  }

  return {textsOf, overlaps, contrast, ofCanvas};
})();
