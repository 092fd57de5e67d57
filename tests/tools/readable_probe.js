/* Runs behind a page of frames, one for each width: whether their pages can be read. */
function lookAt(frame) {
  const page = frame.contentDocument, view = frame.contentWindow, root = page.documentElement, weak = new Set(), cut = new Set();
  page.querySelectorAll('details').forEach(part => { part.open = true; });
  const texts = reading.textsOf(page.body, view);
  for (const one of texts) {
    const found = reading.contrast(one, view), inPicture = one.element.closest('svg') !== null;
    if (!(found >= 4.5)) weak.add(one.text + ' ' + found.toFixed(2));
    const block = one.element.closest('pre'); /* blanks at the end of a line hang over it */
    const over = block !== null ? block.scrollWidth > block.clientWidth + 1 : one.box.right + view.scrollX > root.clientWidth + 1;
    if (over && !inPicture) cut.add(one.text);
  }
  const name = frame.width + ' ', overlaps = reading.overlaps(texts, view);
  say(name + 'texts', texts.length > 5 ? 'many' : texts.length);
  say(name + 'sideways', root.scrollWidth > root.clientWidth ? root.scrollWidth - root.clientWidth : 'no');
  say(name + 'cut', [...cut].join(', ') || 'nothing');
  if (page.querySelector('canvas') !== null && typeof view.draw === 'function') {
    const drawn = reading.ofCanvas(view, () => view.draw());
    drawn.weak.forEach(text => weak.add(text));
    overlaps.push(...drawn.overlaps);
    say(name + 'drawn', drawn.count > 5 ? 'many' : drawn.count);
  }
  say(name + 'hard to read', [...weak].slice(0, 8).join(', ') || 'nothing');
  say(name + 'on another', overlaps.slice(0, 8).join(', ') || 'nothing');
}

const frames = [...document.querySelectorAll('iframe')];
onload = () => {
  frames.forEach(lookAt);
  say('theme', matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light');
  say('done', true);
};
