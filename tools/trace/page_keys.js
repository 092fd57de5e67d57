/* ---- words ---- */
function timeText(time) {
  const [unit, name] = unitOf(time);
  return +(time / unit).toPrecision(6) + ' ' + name;
}

function callText(lane, i) {
  const calls = lane.items;
  return texts[calls.name[i]] + '(' + texts[calls.arguments[i]] + ') = ' + texts[calls.result[i]];
}

function tellCall(lane, i) {
  const calls = lane.items, before = texts[calls.before[i]], after = texts[calls.after[i]];
  const moved = calls.before[i] !== calls.after[i] || calls.from[i] !== calls.to[i];
  return callText(lane, i) + '\n' + threadText(lane) + ', at ' + timeText(calls.start[i]) +
    ', took ' + timeText(calls.end[i] - calls.start[i]) +
    '\ncurrent: ' + before + ', stack of ' + calls.from[i] + (moved ? '; after it: ' + after + ', stack of ' + calls.to[i] : '') +
    (texts[calls.origin[i]] !== '' ? '\ncalled at ' + texts[calls.origin[i]] : '');
}

// Threads without a name of their own are called by their number.
function threadText(lane) {
  return /^thread [0-9]+$/.test(lane.name) ? lane.name : 'thread ' + lane.name;
}

function tellWork(lane, i) {
  const work = lane.items, submitter = work.thread[i] > 0 ? lane.process.threadLanes[work.thread[i] - 1] : undefined;
  const timed = texts[work.kind[i]] !== 'submission';
  return texts[work.name[i]] + ' in ' + lane.name + (timed ? '\nran at ' : '\nsubmitted at ') + timeText(work.start[i]) + ', ' +
    (timed ? 'for ' : 'the call took ') + timeText(work.end[i] - work.start[i]) + (submitter === undefined ? ''
    : '\nsubmitted by ' + threadText(submitter) + ' at ' + timeText(submitter.items.start[work.call[i] - 1]) + ': ' +
      callText(submitter, work.call[i] - 1));
}

function tellEntry(lane, level, i) {
  const layer = lane.layers[level], gone = goneAt(lane, layer, i);
  return texts[layer.word[i]] + '\nentry ' + (level + 1) + ' of the stack of ' + threadText(lane) + ', from ' + timeText(layer.start[i]) +
    ' to ' + timeText(layer.end[i]) + (gone !== undefined ? '\nit was destroyed at ' + timeText(gone) + ' and stayed here' : '');
}

function tell(place) {
  if (place === null) return '';
  if (place.mark !== undefined) return place.mark[4];
  if (place.entry !== undefined) return tellEntry(place.lane, place.level, place.entry);
  return place.lane.kind === 'stream' ? tellWork(place.lane, place.index) : tellCall(place.lane, place.index);
}

/* ---- pointing ---- */
/* The innermost item that is there, or else the nearest one within some pixels. */
function itemAt(items, time, fits) {
  const near = 4 * span / (wide - GUTTER);
  let best = -1;
  for (let i = firstIndex(items.count, at => items.start[at] > time + near) - 1; i >= 0 && items.reach[i] >= time - near; i--) {
    if (!fits(i) || items.end[i] < time - near) continue;
    if (items.start[i] <= time && items.end[i] >= time) return i;
    if (best < 0 || Math.abs(items.start[i] - time) < Math.abs(items.start[best] - time)) best = i;
    if (items.start[i] < time - near) break;
  }
  return best;
}

function placeAt(x, y) {
  const at = y + view.scrollTop, lane = lanes.find(one => at >= one.top - 5 && at < one.top + one.tall);
  if (lane === undefined || lane.kind === 'title' || x < GUTTER || y < AXIS) return null;
  const time = timeOf(x), inside = at - lane.top;
  const mark = (lane.marks || []).find(one => Math.abs(xOf(one[1]) - x) <= 6 && at >= markY(lane, lane.top) - 1);
  if (mark !== undefined) return {lane, mark};
  if (lane.kind === 'marks') return null;
  if (lane.kind === 'thread' && inside >= CALL) {
    const level = lane.levels - 1 - Math.floor((inside - CALL) / LAYER);
    const entry = lane.layers[level] !== undefined ? itemAt(lane.layers[level], time, () => true) : -1;
    return entry >= 0 ? {lane, level, entry} : null;
  }
  const index = itemAt(lane.items, time, i => lane.kind === 'thread' || lane.items.lane[i] === Math.floor(inside / WORK));
  return index >= 0 ? {lane, index} : null;
}

function select(place) {
  selected = place;
  element('details').textContent = tell(place);
  redraw();
}

/* Moves so that it can be seen. */
function show(place) {
  const time = place.mark !== undefined ? place.mark[1] : place.lane.items.start[place.index];
  if (time < from || time > from + span * .95) from = Math.max(-span * .02, time - span / 2);
  if (place.lane.top < view.scrollTop + AXIS || place.lane.top + place.lane.tall > view.scrollTop + high)
    view.scrollTop = place.lane.top - AXIS - 4;
  select(place);
}

const tip = element('tip');
function showTip(event) {
  const box = canvas.getBoundingClientRect(), place = placeAt(event.clientX - box.left, event.clientY - box.top);
  tip.hidden = place === null;
  if (place === null) return;
  tip.textContent = tell(place);
  tip.style.left = Math.min(event.clientX + 12, innerWidth - tip.offsetWidth - 8) + 'px';
  const below = event.clientY + 14;
  tip.style.top = (below + tip.offsetHeight > innerHeight ? event.clientY - tip.offsetHeight - 10 : below) + 'px';
}

/* ---- moving ---- */
function zoom(factor, time) {
  const next = Math.min(total * 1.1, Math.max(20, span * factor));
  from = time - (time - from) * next / span;
  span = next;
  keepInside();
}

function keepInside() {
  from = Math.max(-span * .02, Math.min(from, total * 1.05 - span * .2));
  tip.hidden = true;
  redraw();
}

function pan(part) {
  from += span * part;
  keepInside();
}

function seeAll() {
  ({from, span} = whole);
  keepInside();
}

let drag = null;
canvas.addEventListener('mousedown', event => { drag = {x: event.clientX, y: event.clientY, from, moved: false}; });
addEventListener('mouseup', event => {
  if (drag !== null && !drag.moved && event.target === canvas) {
    const box = canvas.getBoundingClientRect();
    select(placeAt(event.clientX - box.left, event.clientY - box.top));
  }
  drag = null;
});
addEventListener('mousemove', event => {
  if (drag === null) {
    if (event.target === canvas) showTip(event); else tip.hidden = true;
    return;
  }
  drag.moved = drag.moved || Math.abs(event.clientX - drag.x) > 3;
  if (!drag.moved) return;
  from = drag.from - (event.clientX - drag.x) / (wide - GUTTER) * span;
  keepInside();
});
canvas.addEventListener('mouseleave', () => { tip.hidden = true; });
/* Over the names of the lanes the wheel scrolls. */
canvas.addEventListener('wheel', event => {
  const x = event.clientX - canvas.getBoundingClientRect().left;
  if (x < GUTTER) return;
  event.preventDefault();
  if (event.shiftKey || event.deltaX !== 0) pan(Math.sign(event.deltaX || event.deltaY) * .1);
  else zoom(event.deltaY > 0 ? 1.25 : .8, timeOf(x));
}, {passive: false});

/* ---- searching ---- */
function search(wanted) {
  const words = wanted.toLowerCase(), hits = words === '' ? null : texts.map(text => text.toLowerCase().includes(words));
  matches = [];
  matching = hits === null ? null : new Map();
  matchAt = -1;
  for (const lane of hits === null ? [] : lanes) {
    const items = lane.items, mine = [];
    for (let i = 0; items !== undefined && i < items.count; i++)
      if (hits[items.name[i]] || (lane.kind === 'thread' && (hits[items.arguments[i]] || hits[items.result[i]] || hits[items.origin[i]]))) mine.push(i);
    matching.set(lane, mine);
    for (const index of mine) matches.push({lane, index});
    for (const mark of lane.marks || []) if (mark[4].toLowerCase().includes(words)) matches.push({lane, mark});
  }
  const timeOfMatch = match => match.mark !== undefined ? match.mark[1] : match.lane.items.start[match.index];
  matches.sort((one, other) => timeOfMatch(one) - timeOfMatch(other));
  tellFound();
  redraw();
}

function tellFound() {
  element('found').textContent = matching === null ? '' : matchAt < 0 ? matches.length + ' found' : (matchAt + 1) + ' of ' + matches.length;
}

function goToMatch(by) {
  if (matches.length === 0) return;
  matchAt = matchAt < 0 ? (by > 0 ? 0 : matches.length - 1) : (matchAt + by + matches.length) % matches.length;
  tellFound();
  show(matches[matchAt]);
}

/* The next call of the lane that is selected, or of the first thread. */
function goToItem(by) {
  const lane = selected !== null && selected.index !== undefined ? selected.lane : lanes.find(one => one.kind === 'thread');
  if (lane === undefined) return;
  const index = selected !== null && selected.lane === lane && selected.index !== undefined ? selected.index + by : 0;
  if (index >= 0 && index < lane.items.count) show({lane, index});
}

/* Calls that failed and findings, in order of time. */
const troubles = lanes.flatMap(lane => [...(lane.failed || []).map(index => ({lane, index, time: lane.items.start[index]})),
  ...(lane.marks || []).map(mark => ({lane, mark, time: mark[1]}))]).sort((one, other) => one.time - other.time);
let troubleAt = -1;
function goToTrouble(by) {
  if (troubles.length === 0) return;
  troubleAt = troubleAt < 0 ? (by > 0 ? 0 : troubles.length - 1) : (troubleAt + by + troubles.length) % troubles.length;
  show(troubles[troubleAt]);
}

element('search').addEventListener('submit', event => { event.preventDefault(); goToMatch(1); });
element('before').addEventListener('click', () => goToMatch(-1));
element('wanted').addEventListener('input', event => search(event.target.value));

const keys = {
  '+': () => zoom(.8, from + span / 2), '=': () => zoom(.8, from + span / 2), '-': () => zoom(1.25, from + span / 2),
  'ArrowLeft': () => pan(-.1), 'ArrowRight': () => pan(.1), '0': seeAll, 'Home': () => { from = whole.from; keepInside(); },
  'ArrowUp': () => { view.scrollTop -= 40; }, 'ArrowDown': () => { view.scrollTop += 40; },
  '/': () => element('wanted').focus(), 'n': () => goToMatch(1), 'N': () => goToMatch(-1), '.': () => goToItem(1), ',': () => goToItem(-1),
  'e': () => goToTrouble(1), 'E': () => goToTrouble(-1), 'Escape': () => select(null),
};
addEventListener('keydown', event => {
  if (event.target === element('wanted')) {
    if (event.key === 'Escape') view.focus();
    return;
  }
  if (event.ctrlKey || event.altKey || event.metaKey || keys[event.key] === undefined) return;
  event.preventDefault();
  keys[event.key]();
});
view.addEventListener('scroll', () => { tip.hidden = true; redraw(); });
addEventListener('resize', redraw);

/* ---- head and legend ---- */
function addLegend(text, paint) {
  const entry = document.createElement('span'), sample = document.createElement('canvas');
  sample.width = 28;
  sample.height = 12;
  paint(sample.getContext('2d'));
  entry.append(sample, text);
  element('legend').append(entry);
}

function plain(colour) {
  return to => { to.fillStyle = colour; to.fillRect(0, 0, 28, 12); };
}

function triangle(to) {
  to.fillStyle = colours.wrong;
  to.beginPath();
  to.moveTo(14, 1);
  to.lineTo(19, 11);
  to.lineTo(9, 11);
  to.fill();
}

function crossed(to) {
  to.strokeStyle = colours.wrong;
  to.beginPath();
  to.moveTo(0, 6);
  to.lineTo(28, 6);
  to.stroke();
}

function writeLegend() {
  element('legend').textContent = '';
  for (const [word, look] of [...contextNames].sort(([, one], [, other]) => one[0] - other[0] || one[1] - other[1]).slice(0, 12))
    addKey(fillClass(...look), texts[word]);
  if (contextNames.size > 12) addKey('', 'and ' + (contextNames.size - 12) + ' more contexts');
  addLegend('call', plain(colours.call));
  if (lanes.some(lane => lane.failed !== undefined && lane.failed.length > 0)) addLegend('failed call (×)', plain(colours.wrong));
  const kinds = new Set(data.processes.flatMap(process => process.work.kind).map(word => texts[word]));
  const words = {kernel: 'kernel', move: 'copy or fill', host: 'host function', order: 'event, wait or free', wait: 'wait for a value',
    submission: 'submission: when it ran is unknown'};
  for (const kind of Object.keys(words)) if (kinds.has(kind)) addLegend(LETTERS[kind] + ': ' + words[kind], plain(colours[kind]));
  if (data.processes.some(process => process.marks.length > 0)) addLegend('finding: ▲ error, ◆ warning, ● note', triangle);
  if ([...lanes].some(lane => (lane.layers || []).some(layer => layer.start.some((_, i) => goneAt(lane, layer, i) !== undefined))))
    addLegend('destroyed, still on a stack', crossed);
}

function counted(count, word) {
  return count + ' ' + word + (count === 1 ? '' : word.endsWith('s') ? 'es' : 's');
}

function writeTitle() {
  const sum = value => data.processes.reduce((so, process) => so + value(process), 0);
  const names = [...new Set(data.processes.map(process => process.program))].join(', ');
  const parts = [counted(sum(process => process.threadLanes.reduce((so, lane) => so + lane.items.count, 0)), 'call'),
    counted(sum(process => process.threads.length), 'thread'), counted(sum(process => process.streams.length), 'stream'),
    timeText(+total.toPrecision(3))];
  if (data.processes.length > 1) parts.unshift(counted(data.processes.length, 'process'));
  const found = sum(process => process.marks.length);
  if (found > 0) parts.push(counted(found, 'finding'));
  element('title').textContent = (names || 'no process called the driver') + ': ' + parts.join(', ');
  document.title = 'ctxrt trace: ' + names;
}

function paint() {
  readColours();
  writeTitle();
  writeLegend();
  redraw();
}
matchMedia('(prefers-color-scheme:dark)').addEventListener('change', paint);
paint();
