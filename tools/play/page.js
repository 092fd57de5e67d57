/* ---- what was played ---- */
const scenarios = JSON.parse(element('played').textContent).scenarios.slice(1);
const EVIDENCE = {D: 'documented', O: 'observed on GPUs', U: 'left open by the documentation', R: 'recorded on GPUs', '?': 'assumed'};

/* Steps tell what has changed; each process of a scenario has things of its own. */
for (const scenario of scenarios) {
  const states = new Map();
  scenario.steps = scenario.steps.slice(1);
  for (const step of scenario.steps) {
    const things = (states.get(step.process) || []).slice();
    for (const [index, thing] of step.things) things[index] = thing;
    things.filter(thing => thing.kind === 'context').forEach((thing, index) => { thing.number = index + 1; });
    states.set(step.process, things);
    step.changed = new Set(step.things.map(([index]) => index));
    step.state = things;
  }
}

let playing = 0, at = 0;
const scenario = () => scenarios[playing];
const now = () => scenario().steps[at];

/* ---- words ---- */
const counted = (count, word) => count + ' ' + word + (count === 1 ? '' : 's');
const isAlive = thing => thing.end === undefined || thing.end === 'reset';

/* The threads on whose stacks a context is; those that have it on top first. */
function holdersOf(step, index) {
  const current = [], deeper = [];
  for (const [thread, ...entries] of step.stacks)
    entries.forEach(([context], depth) => {
      if (context === index && depth === 0) current.push(thread);
      else if (context === index && !current.includes(thread) && !deeper.includes(thread)) deeper.push(thread);
    });
  return {current, deeper};
}

function endText(thing) {
  if (thing.end === 'reset') return 'reset: empty until the next retain';
  if (thing.primary) return 'released: empty until the next retain';
  return thing.end === 'with its context' ? 'gone with its context' : 'destroyed';
}

function contextText(step, index) {
  const thing = step.state[index], {current, deeper} = holdersOf(step, index);
  const parts = [thing.primary ? 'primary context' : 'context', 'made in line ' + thing.made];
  if (thing.primary && thing.holds > 0) parts.push('retained ' + counted(thing.holds, 'time'));
  if (thing.end !== undefined) parts.push(endText(thing));
  if (current.length > 0) parts.push('current on ' + current.join(', '));
  if (deeper.length > 0) parts.push('deeper in the stack of ' + deeper.join(', '));
  return thing.name + ': ' + parts.join(', ');
}

/* ---- boxes ---- */
function titled(made, text) {
  made.title = text;
  return made;
}

function marked(step, index, made) {
  if (step.changed.has(index)) made.classList.add('changed');
  return made;
}

function drawEntry(step, [index, destroyed, name], depth) {
  const thing = step.state[index], gone = destroyed || (thing !== undefined && thing.end !== undefined);
  const look = gone || thing === undefined ? 'gone' : fillClass(thing.device, thing.number);
  const place = depth === 0 ? 'the current context' : counted(depth, 'entry').replace('entrys', 'entries') + ' below the top';
  const entry = make('span', 'entry ' + look + (depth === 0 ? ' current' : ''), make('span', 'name', name));
  if (gone) entry.append(make('span', 'mark', depth === 0 ? ' ✗ ' + (destroyed ? 'destroyed' : 'inactive') + ', still current' : ' ✗'));
  return titled(entry, place + (thing === undefined ? '' : '\n' + contextText(step, index)));
}

function drawStacks(step) {
  return step.stacks.map(([thread, ...entries]) => {
    const stack = make('div', 'stack', make('b', '', thread), ...entries.map((entry, depth) => drawEntry(step, entry, depth)));
    if (entries.length === 0) stack.prepend(make('span', 'soft', 'empty'));
    return titled(stack, 'thread ' + thread + ': ' + counted(entries.length, 'context') + ' on its stack');
  });
}

function drawWork([line, , , text]) {
  return titled(make('span', 'work', '◔ ' + text.replace(/^[^:]*: /, '')),
    'submitted in line ' + line + ': ' + text + '\nnothing has waited for it so far: it may not be done');
}

function drawStream(step, index, name, work) {
  const row = make('div', 'item stream', make('span', '', 'stream ', make('b', '', name)), ...work.map(drawWork));
  const thing = step.state[index];
  if (thing !== undefined && thing.capturing) row.append(make('span', 'mark', 'captures'));
  else if (work.length === 0) row.append(make('span', 'soft', step.lost ? 'work not followed' : 'nothing pending'));
  if (thing !== undefined) marked(step, index, ended(thing, row));
  return titled(row, 'stream ' + name + ': ' + (step.lost ? 'after captures and launches of graphs work is not followed'
    : counted(work.length, 'piece') + ' of work that nothing has waited for'));
}

function eventWords(step, thing) {
  if (thing.recorded === undefined) return 'never recorded';
  const stream = step.state[thing.stream];
  const where = 'recorded in line ' + thing.recorded + (stream === undefined ? '' : ' in ' + stream.name);
  return where + (thing.pending ? ', ◔ pending' : ', ✓ nothing pending before it');
}

function drawEvent(step, index) {
  const thing = step.state[index], words = eventWords(step, thing);
  const row = make('div', 'item event', make('span', '', 'event ', make('b', '', thing.name)), make('span', 'soft', words));
  return titled(marked(step, index, ended(thing, row)), 'event ' + thing.name + ', made in line ' + thing.made + ': ' + words);
}

function bytesText(bytes) {
  if (bytes === 0) return 'of unknown size';
  const units = [['GiB', 2 ** 30], ['MiB', 2 ** 20], ['KiB', 2 ** 10]], unit = units.find(([, size]) => bytes % size === 0);
  return unit !== undefined ? bytes / unit[1] + ' ' + unit[0] : counted(bytes, 'byte');
}

function drawMemory(step, index) {
  const thing = step.state[index], owner = step.state[thing.context];
  const row = make('div', 'item memory', make('b', '', thing.name), make('span', 'soft', thing.what + ', ' + bytesText(thing.bytes)));
  for (const [unit, count] of thing.runs || []) row.append(make('span', 'run', unit + ' ×' + count));
  if (thing.more) row.append('…');
  if (thing.runs === undefined && isAlive(thing)) row.append(make('span', 'soft', 'bytes not known'));
  if (thing.device < 0 && owner !== undefined) row.append(make('span', 'soft', 'of context ' + owner.name));
  const contents = thing.runs === undefined ? 'its contents are not known here'
    : 'its bytes now: ' + thing.runs.map(([unit, count]) => count + ' times ' + unit).join(', then ') + (thing.more ? ', and more' : '');
  const told = thing.name + ': ' + thing.what + ', ' + bytesText(thing.bytes) + ', made in line ' + thing.made + '\n' + contents;
  return titled(marked(step, index, ended(thing, row)), told);
}

/* The indexes of things that pass, alive or ended by this step. */
const pick = (step, passes) => [...step.state.keys()].filter(index => passes(step.state[index], index) &&
  (isAlive(step.state[index]) || step.changed.has(index)));

/* A thing that has ended says so. */
function ended(thing, row) {
  if (!isAlive(thing)) row.append(make('span', 'mark bad', '✗ ' + endText(thing)));
  return row;
}

function drawContext(step, index) {
  const thing = step.state[index], {current} = holdersOf(step, index), gone = thing.end !== undefined;
  const box = make('div', 'context ' + (gone ? 'gone' : fillClass(thing.device, thing.number)),
    make('b', 'name', thing.name), make('span', '', thing.primary ? ' primary context' : ' context'));
  if (gone) box.append(make('span', 'mark', ' ✗ ' + endText(thing)));
  if (thing.primary && thing.holds > 0) box.append(make('span', 'soft', ', retained ' + counted(thing.holds, 'time')));
  if (current.length > 0) box.append(make('span', '', ', current on ' + current.join(', ')));
  const work = step.work.filter(([, , context]) => context === index);
  for (const [stream, name] of [[-1, 'legacy (the default)'], [-2, 'per_thread (a default)']]) {
    const mine = work.filter(([, of]) => of === stream);
    if (mine.length > 0 && !gone) box.append(drawStream(step, stream, name, mine));
  }
  const mine = kind => pick(step, each => each.kind === kind && each.context === index);
  /* A destroyed stream stays as long as it has work. */
  const streams = new Set([...mine('stream'), ...(gone ? [] : work.map(([, stream]) => stream).filter(stream => stream >= 0))]);
  for (const stream of streams)
    box.append(drawStream(step, stream, step.state[stream].name, work.filter(([, of]) => of === stream)));
  for (const event of mine('event')) box.append(drawEvent(step, event));
  for (const memory of mine('memory').filter(each => step.state[each].device >= 0 && !(gone && isAlive(step.state[each]))))
    box.append(drawMemory(step, memory));
  return titled(marked(step, index, box), contextText(step, index));
}

function drawDevices(step) {
  const onStacks = new Set(step.stacks.flatMap(([, ...entries]) => entries.map(([index]) => index)));
  const count = Math.max(scenario().devices, ...scenario().steps.flatMap(each => each.state.map(thing => thing.device + 1)));
  return [...Array(count).keys()].map(device => {
    const card = make('div', 'device', make('b', '', make('i', 'key ' + fillClass(device, 1)), 'GPU ' + device));
    for (const [index, thing] of step.state.entries())
      if (thing.kind === 'context' && thing.device === device && (isAlive(thing) || onStacks.has(index) || step.changed.has(index)))
        card.append(drawContext(step, index));
    for (const [index, thing] of step.state.entries())
      if (thing.kind === 'memory' && thing.device === device && isAlive(thing) && step.state[thing.context].end !== undefined)
        card.append(drawMemory(step, index));
    if (card.childElementCount === 1) card.append(make('span', 'soft', 'no context'));
    return titled(card, 'GPU ' + device + ': ' + counted(card.querySelectorAll('.context:not(.gone)').length, 'context'));
  });
}
