/* Runs behind probe.js in a lesson's page: what a wide window shows of it, and a frame as narrow as a telephone. */
function sayWidths(name, page) {
  const root = page.documentElement, svg = page.querySelector('svg'), picture = page.querySelector('.picture');
  const letters = Number.parseFloat(page.defaultView.getComputedStyle(svg.querySelector('text')).fontSize);
  page.querySelector('details').open = true;
  say(name, root.clientWidth + ', ' + (root.scrollWidth > root.clientWidth ? 'overflows' : 'fits'));
  say(name + ' letters', letters * svg.getBoundingClientRect().width / svg.viewBox.baseVal.width >= 9 ? 'can be read' : 'are too small');
  say(name + ' picture', picture.scrollWidth <= picture.clientWidth ? 'in sight' : 'scrolls by itself');
}

const copy = document.documentElement.cloneNode(true), frame = document.createElement('iframe');
copy.querySelectorAll('script, #probe').forEach(part => part.remove());
frame.width = 390;
frame.onload = () => {
  sayWidths('narrow', frame.contentDocument);
  say('done', true);
};
sayWidths('wide', document);
frame.srcdoc = copy.outerHTML;
document.body.append(frame);
