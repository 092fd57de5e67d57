/* ---- the trace ---- */
const data = JSON.parse(document.getElementById('trace').textContent);
const texts = data.texts;
const AXIS = 28, CALL = 20, LAYER = 19, WORK = 20, GAP = 9, MARKS = 14;
const LETTERS = {kernel: 'K', move: 'C', host: 'H', order: 'E', wait: 'W', submission: 'S'};

/* Columns of begins count from the item before. The greatest end so far finds what is visible. */
function unpack(columns) {
  const count = columns.start.length;
  const start = new Float64Array(count), end = new Float64Array(count), reach = new Float64Array(count);
  let at = 0, most = 0;
  for (let i = 0; i < count; i++) {
    at += columns.start[i];
    start[i] = at;
    end[i] = at + columns.time[i];
    most = Math.max(most, end[i]);
    reach[i] = most;
  }
  return {...columns, start, end, reach, count};
}

/* The first index in [0, count) for which `holds`, which stays true from then on. */
function firstIndex(count, holds) {
  let low = 0, high = count;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(middle)) high = middle; else low = middle + 1;
  }
  return low;
}

/* ---- lanes ---- */
const lanes = [];
const GOOD = texts.indexOf('SUCCESS'), NOT_READY = texts.indexOf('NOT_READY');
let total = 1, height = AXIS + GAP;
const contextNames = new Map();

/* The look of a context, by its name: its device and its number. */
function lookOf(process, object, word) {
  if (!contextNames.has(word)) contextNames.set(word, process.contexts[object] || [-1, 1]);
  return word;
}

function addLane(lane, tall) {
  lane.top = height;
  lane.tall = tall;
  height += tall + GAP;
  lanes.push(lane);
  return lane;
}

/* The entries of a stack by their level; those of one level follow each other. */
function layersOf(process, spans) {
  const layers = [];
  for (const [object, word, level, start, end] of spans) {
    while (layers.length <= level) layers.push({object: [], word: [], start: [], end: [], look: [], count: 0});
    const layer = layers[level];
    layer.object.push(object);
    layer.word.push(word);
    layer.start.push(start);
    layer.end.push(end);
    layer.look.push(lookOf(process, object, word));
    layer.count++;
  }
  for (const layer of layers) layer.reach = layer.end;
  if (layers.length === 0) layers.push({start: [], end: [], reach: [], count: 0});
  return layers;
}

function addThread(process, thread) {
  const calls = unpack(thread.calls), layers = layersOf(process, thread.spans), levels = layers.length;
  const failed = [];
  for (let i = 0; i < calls.count; i++)
    if (calls.result[i] !== GOOD && calls.result[i] !== NOT_READY) failed.push(i);
  const marks = process.marks.filter(mark => mark[0] === thread.tid);
  const spanned = thread.spans.length > 0;
  return addLane({kind: 'thread', name: thread.name, process, items: calls, layers, levels, spanned, failed, marks},
    CALL + levels * LAYER + (marks.length > 0 ? MARKS : 0));
}

/* The work of one stream; each item remembers its number in the process. */
function addStream(process, index, stream) {
  const work = process.columns, mine = process.byTrack[index];
  const pick = column => mine.map(i => column[i]);
  const items = {number: mine, name: pick(work.name), kind: pick(work.kind), lane: pick(work.lane), thread: pick(work.thread),
    call: pick(work.call), start: pick(work.start), end: pick(work.end), count: mine.length};
  let most = 0;
  items.reach = items.end.map(end => most = Math.max(most, end));
  return addLane({kind: 'stream', name: stream.name, context: process.contexts[stream.context], process, items, failed: [], marks: []},
    stream.lanes * WORK);
}

function addProcess(process) {
  total = Math.max(total, process.end);
  const from = process.forkedFrom !== 0 ? ' forked from ' + process.forkedFrom : '';
  if (data.processes.length > 1) addLane({kind: 'title', name: 'process ' + process.pid + ' ' + process.program + from}, CALL);
  process.columns = unpack(process.work);
  process.byTrack = process.streams.map(() => []);
  process.place = [];
  for (let i = 0; i < process.columns.count; i++) {
    const track = process.work.track[i];
    process.place.push(process.byTrack[track].length);
    process.byTrack[track].push(i);
  }
  const known = new Set(process.threads.map(thread => thread.tid));
  const others = process.marks.filter(mark => !known.has(mark[0]));
  if (others.length > 0) addLane({kind: 'marks', name: 'findings of other threads', process, failed: [], marks: others}, MARKS + 2);
  process.threadLanes = process.threads.map(thread => addThread(process, thread));
  process.streamLanes = process.streams.map((stream, index) => addStream(process, index, stream));
}
data.processes.forEach(addProcess);

/* ---- what is seen ---- */
const view = element('view'), canvas = document.createElement('canvas'), spacer = document.createElement('div');
const pen = canvas.getContext('2d');
view.append(canvas, spacer);
/* The time before the first call is the program's own. */
const begin = Math.min(total, ...lanes.filter(lane => lane.items !== undefined && lane.items.count > 0).map(lane => lane.items.start[0]));
const whole = {from: begin - (total - begin) * .01, span: (total - begin) * 1.03};
let {from, span} = whole, wide = 0, high = 0, colours = {}, patterns = new Map();
let selected = null, matches = [], matching = null, matchAt = -1, asked = false;

/* As wide as the names of the lanes, with room for the fill of a context. */
const FONT = '13px sans-serif';
pen.font = FONT;
const GUTTER = Math.ceil(Math.min(330, Math.max(150, ...lanes.map(lane => pen.measureText(lane.name).width + 34))));

const xOf = time => GUTTER + (time - from) / span * (wide - GUTTER);
const timeOf = x => from + (x - GUTTER) / (wide - GUTTER) * span;

function readColours() {
  for (const name of ['paper', 'ink', 'soft', 'line', 'band', 'gutter', 'wrong', 'mark', 'call', 'kernel', 'move', 'host', 'order', 'wait',
    'submission', 'hit', 'cpu', ...[...Array(HUES).keys()].map(i => 'gpu' + i)])
    colours[name] = colourOf(name);
  patterns = new Map();
}

function patternOfContext(device, number) {
  const name = fillClass(device, number);
  if (!patterns.has(name)) patterns.set(name, pen.createPattern(fillTile(device, number), 'repeat'));
  return patterns.get(name);
}

/* ---- drawing ---- */
function label(text, x, y, room, colour, halo) {
  if (room < 14) return;
  pen.fillStyle = colour;
  let shown = text;
  while (shown.length > 1 && pen.measureText(shown).width > room - 6)
    shown = shown.slice(0, Math.max(1, Math.floor(shown.length * Math.min(0.9, (room - 6) / pen.measureText(shown).width))));
  if (shown.length < text.length && shown.length <= 2) return;
  if (halo !== undefined) {
    pen.strokeStyle = halo;
    pen.lineWidth = 4;
    pen.strokeText(shown, x + 3, y);
    pen.lineWidth = 1;
  }
  pen.fillText(shown, x + 3, y);
}

/* Calls `draw` for the visible items, once for all those that begin at one pixel. */
function eachVisible(items, draw) {
  const end = from + span, pixel = span / (wide - GUTTER);
  let i = firstIndex(items.count, at => items.reach[at] >= from);
  while (i < items.count && items.start[i] <= end) {
    draw(i);
    const next = items.start[i] + pixel;
    const later = at => items.start[at] >= next || items.end[at] > next + pixel;
    i = items.end[i] > next ? i + 1 : Math.max(i + 1, firstIndex(items.count, later));
  }
}

const shownX = time => Math.max(GUTTER, Math.min(wide, xOf(time)));

/* The context of an entry was destroyed while the entry was there: when; else undefined. */
function goneAt(lane, layer, i) {
  const ended = lane.process.ended[layer.object[i]];
  return ended !== undefined && ended < layer.end[i] ? Math.max(ended, layer.start[i]) : undefined;
}

function drawEntry(lane, level, i, y) {
  const layer = lane.layers[level], left = shownX(layer.start[i]), right = Math.max(left + 1, shownX(layer.end[i]));
  const top = y + CALL + (lane.levels - 1 - level) * LAYER, gone = goneAt(lane, layer, i);
  const [device, number] = contextNames.get(layer.look[i]);
  pen.fillStyle = patternOfContext(device, number);
  pen.fillRect(left, top, right - left, LAYER - 1);
  if (gone !== undefined) {
    pen.strokeStyle = colours.wrong;
    pen.beginPath();
    pen.moveTo(shownX(gone), top + LAYER / 2);
    pen.lineTo(right, top + LAYER / 2);
    pen.stroke();
  }
  if (right - left < 3) return;
  pen.strokeStyle = colours.soft;
  pen.strokeRect(left + .5, top + .5, right - left - 1, LAYER - 2);
  const name = texts[layer.word[i]] + (gone !== undefined ? ' (destroyed)' : '');
  label(name, left, top + 14, right - left, colours.ink, colours[hueOf(device)]);
}

function drawCall(lane, i, y) {
  const calls = lane.items, left = shownX(calls.start[i]), right = Math.max(left + 1, shownX(calls.end[i]));
  const wrong = calls.result[i] !== GOOD && calls.result[i] !== NOT_READY;
  pen.fillStyle = wrong ? colours.wrong : colours.call;
  pen.fillRect(left, y + 1, right - left, CALL - 3);
  if (right - left > 30) label(texts[calls.name[i]], left, y + 14, right - left, wrong ? colours.paper : colours.ink);
}

/* A failed call has a cross above its pixel. */
function drawFailed(lane, y) {
  let last = -9;
  for (let k = firstIndex(lane.failed.length, at => lane.items.start[lane.failed[at]] >= from); k < lane.failed.length; k++) {
    const i = lane.failed[k], x = xOf(lane.items.start[i]);
    if (x > wide) break;
    if (x < last + 6) continue;
    last = x;
    pen.fillStyle = pen.strokeStyle = colours.wrong;
    pen.fillRect(x, y + 1, Math.max(2, xOf(lane.items.end[i]) - x), CALL - 3);
    pen.beginPath();
    pen.moveTo(x - 3, y - 5); pen.lineTo(x + 3, y + 1);
    pen.moveTo(x + 3, y - 5); pen.lineTo(x - 3, y + 1);
    pen.stroke();
  }
}

/* Errors are triangles, warnings diamonds, notes circles. */
function drawMark(severity, x, y) {
  pen.fillStyle = severity === 'error' ? colours.wrong : colours.mark;
  pen.beginPath();
  if (severity === 'error') { pen.moveTo(x, y); pen.lineTo(x + 5, y + 10); pen.lineTo(x - 5, y + 10); }
  else if (severity === 'warning') { pen.moveTo(x, y); pen.lineTo(x + 5, y + 5); pen.lineTo(x, y + 10); pen.lineTo(x - 5, y + 5); }
  else pen.arc(x, y + 5, 4, 0, 7);
  pen.fill();
}

const markY = (lane, y) => lane.kind === 'marks' ? y + 2 : y + CALL + lane.levels * LAYER + 1;

function drawWork(lane, i, y) {
  const work = lane.items, left = shownX(work.start[i]), right = Math.max(left + 1, shownX(work.end[i]));
  const kind = texts[work.kind[i]], top = y + work.lane[i] * WORK;
  pen.fillStyle = colours[kind] || colours.order;
  pen.fillRect(left, top + 1, right - left, WORK - 3);
  if (right - left > 30) label(texts[work.name[i]], left, top + 14, right - left, colours.paper);
  else if (right - left > 12) label(LETTERS[kind] || '', left, top + 14, 20, colours.paper);
}

function drawBand(lane, y) {
  pen.fillStyle = colours.band;
  pen.fillRect(GUTTER, y, wide - GUTTER, lane.tall);
}

function drawLane(lane, y) {
  if (lane.kind === 'thread') {
    lane.layers.forEach((layer, level) => eachVisible(layer, i => drawEntry(lane, level, i, y)));
    eachVisible(lane.items, i => drawCall(lane, i, y));
    drawFailed(lane, y);
  }
  if (lane.kind === 'stream') eachVisible(lane.items, i => drawWork(lane, i, y));
  for (const mark of lane.marks || []) if (mark[1] >= from && mark[1] <= from + span) drawMark(mark[3], xOf(mark[1]), markY(lane, y));
  drawMatches(lane, y);
}

function drawMatches(lane, y) {
  const mine = matching && matching.get(lane);
  if (!mine) return;
  const items = lane.items, pixel = span / (wide - GUTTER);
  pen.fillStyle = colours.hit;
  for (let k = firstIndex(mine.length, at => items.start[mine[at]] >= from); k < mine.length; ) {
    const time = items.start[mine[k]];
    if (time > from + span) break;
    pen.fillRect(xOf(time) - 1, y - 4, 3, 5);
    k = Math.max(k + 1, firstIndex(mine.length, at => items.start[mine[at]] >= time + pixel));
  }
}

function drawGutter(lane, y) {
  pen.fillStyle = colours.gutter;
  pen.fillRect(0, y, GUTTER - 4, lane.tall);
  label(lane.name, 2, y + 14, GUTTER - 20, colours.ink);
  if (lane.context !== undefined) {
    pen.fillStyle = patternOfContext(...lane.context);
    pen.fillRect(GUTTER - 16, y, 12, lane.tall);
  }
  if (lane.kind === 'thread' && lane.spanned) label('stack', 2, y + 14 + CALL, GUTTER - 6, colours.soft);
}

function unitOf(time) {
  return time < 1e3 ? [1, 'ns'] : time < 1e6 ? [1e3, 'us'] : time < 1e9 ? [1e6, 'ms'] : [1e9, 's'];
}

/* The lines of the axis, and then, above all lanes, its times. */
function drawAxis(times) {
  const raw = span / Math.max(1, (wide - GUTTER) / 130), power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map(each => each * power).find(each => each >= raw), [unit, name] = unitOf(step * 5);
  pen.fillStyle = colours.paper;
  if (times) pen.fillRect(0, 0, wide, AXIS - 2);
  for (let tick = Math.ceil(from / step) * step; tick <= from + span; tick += step) {
    const x = xOf(tick);
    if (times) {
      label(+(tick / unit).toPrecision(12) + ' ' + name, x - 2, 15, 130, colours.soft);
      continue;
    }
    pen.strokeStyle = colours.line;
    pen.beginPath();
    pen.moveTo(x + .5, AXIS - 8);
    pen.lineTo(x + .5, high);
    pen.stroke();
  }
}

/* ---- arrows ---- */
function endOf(process, at, thread) {
  if (thread >= 0) return {lane: process.threadLanes[thread], index: at};
  return {lane: process.streamLanes[process.work.track[at]], index: process.place[at]};
}

function yOf(place) {
  const lane = place.lane, y = lane.top - view.scrollTop;
  return lane.kind === 'stream' ? y + lane.items.lane[place.index] * WORK + WORK / 2 : y + CALL / 2;
}

function drawArrow(process, [ofEvent, fromAt, fromThread, toAt, toThread]) {
  const one = endOf(process, fromAt, fromThread), other = endOf(process, toAt, toThread);
  const x = xOf(one.lane.items.start[one.index]);
  const toX = xOf(other.lane.kind === 'thread' ? other.lane.items.end[other.index] : other.lane.items.start[other.index]);
  if (Math.max(x, toX) < GUTTER || Math.min(x, toX) > wide) return;
  const y = yOf(one), toY = yOf(other), bend = Math.max(12, Math.abs(toX - x) / 3);
  pen.setLineDash(ofEvent ? [4, 3] : []);
  pen.beginPath();
  pen.moveTo(x, y);
  pen.bezierCurveTo(x + bend, y, toX - bend, toY, toX, toY);
  pen.moveTo(toX - 5, toY - 3);
  pen.lineTo(toX, toY);
  pen.lineTo(toX - 5, toY + 3);
  pen.stroke();
  pen.setLineDash([]);
}

/* All arrows where few are visible, else those of what is selected. */
function drawArrows() {
  pen.save();
  pen.beginPath();
  pen.rect(GUTTER, AXIS, wide - GUTTER, high - AXIS);
  pen.clip();
  pen.strokeStyle = colours.ink;
  for (const process of data.processes) {
    const shown = process.arrows.length <= 400 ? process.arrows : process.arrows.filter(arrow => touchesSelected(process, arrow));
    for (const arrow of shown) drawArrow(process, arrow);
  }
  pen.restore();
}

function touchesSelected(process, [, fromAt, fromThread, toAt, toThread]) {
  if (selected === null || selected.lane.process !== process) return false;
  const same = (at, thread) => thread >= 0 ? selected.lane === process.threadLanes[thread] && selected.index === at
    : selected.lane.kind === 'stream' && selected.lane.items.number[selected.index] === at;
  return same(fromAt, fromThread) || same(toAt, toThread);
}

function drawSelected() {
  if (selected === null || selected.index === undefined) return;
  const items = selected.lane.items, left = shownX(items.start[selected.index]), y = selected.lane.top - view.scrollTop;
  const top = selected.lane.kind === 'stream' ? y + items.lane[selected.index] * WORK : y;
  pen.strokeStyle = colours.ink;
  pen.lineWidth = 2;
  pen.strokeRect(left - 1, top, Math.max(3, shownX(items.end[selected.index]) - left + 2), CALL - 1);
  pen.lineWidth = 1;
}

function draw() {
  asked = false;
  const ratio = devicePixelRatio || 1;
  wide = view.clientWidth;
  high = view.clientHeight;
  canvas.width = wide * ratio;
  canvas.height = high * ratio;
  canvas.style.width = wide + 'px';
  canvas.style.height = high + 'px';
  spacer.style.height = Math.max(0, height - high) + 'px';
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.font = FONT;
  pen.fillStyle = colours.paper;
  pen.fillRect(0, 0, wide, high);
  const shown = lanes.filter(lane => lane.top + lane.tall >= view.scrollTop && lane.top <= view.scrollTop + high);
  for (const lane of shown) drawBand(lane, lane.top - view.scrollTop);
  drawAxis(false);
  for (const lane of shown) drawLane(lane, lane.top - view.scrollTop);
  drawArrows();
  drawSelected();
  for (const lane of shown) drawGutter(lane, lane.top - view.scrollTop);
  drawAxis(true);
}

function redraw() {
  if (asked) return;
  asked = true;
  requestAnimationFrame(draw);
}
