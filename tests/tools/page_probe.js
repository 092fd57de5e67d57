/* Runs in the page of a trace, behind probe.js: uses it as a person would. */
const key = name => dispatchEvent(new KeyboardEvent('keydown', {key: name, cancelable: true}));
const lane = name => lanes.find(one => one.name === name);
const shown = () => from.toPrecision(6) + '+' + span.toPrecision(6);

function mouse(type, x, y, more) {
  const box = canvas.getBoundingClientRect();
  canvas.dispatchEvent(new (type === 'wheel' ? WheelEvent : MouseEvent)(type,
    {clientX: box.left + x, clientY: box.top + y, bubbles: true, cancelable: true, ...more}));
}

/* What the tip says of a place of a lane. */
function hover(one, x, inside) {
  mouse('mousemove', x, one.top - view.scrollTop + inside);
  return tip.hidden ? 'nothing' : tip.textContent;
}

function hoverItem(one, name) {
  const index = one.items.name.findIndex(word => texts[word] === name), row = one.kind === 'stream' ? one.items.lane[index] * WORK : 0;
  return hover(one, xOf(one.items.start[index]) + .5, row + 6);
}

function probe() {
  const main = lane('main'), worker = lane('worker');
  say('title', element('title').textContent.replace(/, [0-9.]+ [mun]?s(?=,|$)/, ''));
  say('lanes', lanes.map(one => one.name).join(', '));
  say('legend', [...element('legend').children].map(one => one.textContent).join(', '));
  say('looks', [...contextNames].map(([word, look]) => texts[word] + ' ' + fillClass(...look)).join(', '));
  zoom(.02, main.items.start[main.items.name.findIndex(word => texts[word] === 'cuMemcpyHtoDAsync_v2')]);
  draw();
  say('call', hoverItem(main, 'cuMemcpyHtoDAsync_v2'));
  seeAll();
  const host = lanes.find(one => one.kind === 'stream' && one.items.name.some(word => texts[word] === 'host function'));
  say('work', hoverItem(host, 'host function'));
  const second = worker.layers[1];
  zoom(.001, second.start[0]);
  draw();
  say('layer', hover(worker, (xOf(second.start[0]) + xOf(second.end[0])) / 2, CALL + 4));
  seeAll();
  draw();
  say('beside', hover(main, GUTTER + 1, 100));
  if (main.marks.length > 0) say('mark', hover(main, xOf(main.marks[0][1]), markY(main, 0) + 5));
  const all = shown();
  key('+');
  say('plus zooms', span < total);
  key('ArrowRight');
  say('right moves', from > whole.from);
  key('0');
  say('0 shows all', shown() === all);
  mouse('wheel', GUTTER + 200, 60, {deltaY: -100});
  say('the wheel zooms', span < total);
  say('at the pointer', Math.abs(xOf(timeOf(GUTTER + 200)) - GUTTER - 200) < .001);
  mouse('wheel', GUTTER + 200, 60, {deltaY: 100, shiftKey: true});
  say('with shift it moves', from > whole.from);
  key('0');
  mouse('mousedown', GUTTER + 300, 60);
  mouse('mousemove', GUTTER + 200, 60);
  mouse('mouseup', GUTTER + 200, 60);
  say('dragging moves', from > whole.from);
  key('0');
  key('/');
  say('/ searches', document.activeElement === element('wanted'));
  element('wanted').value = 'EVENT 1';
  element('wanted').dispatchEvent(new Event('input'));
  view.focus();
  say('found', element('found').textContent);
  key('n');
  key('n');
  say('second match', element('found').textContent + ' ' + element('details').textContent.split('\n')[0]);
  key('N');
  say('first match', element('found').textContent + ' ' + element('details').textContent.split('\n')[0]);
  key('.');
  say('next call', element('details').textContent.split('\n')[0]);
  key(',');
  say('call before', element('details').textContent.split('\n')[0]);
  key('e');
  say('first trouble', element('details').textContent.split('\n')[0]);
  key('Escape');
  say('nothing selected', selected === null && element('details').textContent === '');
  const box = pen.getImageData(0, 0, canvas.width, canvas.height).data;
  say('something is drawn', new Set(new Uint32Array(box.buffer)).size > 20);
}

/* A long trace: the time to be drawn, and frames while it is zoomed and moved. */
function measure() {
  const frames = [];
  say('events', lanes.reduce((so, one) => so + (one.items ? one.items.count : 0), 0));
  for (let i = 0; i < 40; i++) {
    const begun = performance.now();
    if (i < 30) zoom(.8, total / 2); else pan(.1);
    draw();
    frames.push(performance.now() - begun);
  }
  seeAll();
  const begun = performance.now();
  draw();
  say('whole ms', (performance.now() - begun).toFixed(1));
  say('worst frame ms', Math.max(...frames).toFixed(1));
  say('loaded ms', readyAt.toFixed(0));
}

const readyAt = performance.now();
draw();
if (lane('worker') !== undefined) probe();
measure();
sayColours();
say('done', true);
