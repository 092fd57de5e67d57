/* ---- the text beside the picture ---- */
/* "C2 [D] why": the rules that a comment names. */
const rulesOf = note => [...new Set((note || '').match(/\b[A-Z][0-9]+\b/g) || [])].filter(id => scenario().rules[id] !== undefined);

function drawRule(id) {
  const rule = scenario().rules[id], link = make('a', '', id);
  const words = rule.text.split(' ').slice(0, 4).join(' ');
  link.href = scenario().manual + '#' + rule.anchor + ':~:text=' + encodeURIComponent(words).replaceAll('-', '%2D');
  const evidence = rule.evidence.split(' ').map(letter => EVIDENCE[letter] || letter).join(', ');
  return titled(make('p', 'rule', 'Rule ', link, ': ' + rule.words),
    'docs/semantics.md, ' + rule.section + ': ' + rule.text + ' (' + evidence + ')');
}

function resultClass(step) {
  return (step.expected !== undefined ? 'wrong ' : '') + (step.came.startsWith('SUCCESS') ? 'came' : 'came failed');
}

function drawTold(step) {
  const told = (step.above || []).slice(1).filter(text => text !== '').map(text => make('p', '', text));
  if (step.process !== scenario().steps[0].process) told.unshift(make('p', 'soft', 'In a process of its own, with a driver of its own:'));
  if (step.expected !== undefined) told.push(make('p', 'mark bad', '✗ The scenario expects ' + step.expected));
  const said = (step.note || '').replace(/^\s*[A-Z][0-9]+ \[.\]\s*/, '');
  if (said !== '') told.push(make('p', '', said));
  return [...told, ...rulesOf(step.note).map(drawRule)];
}

function drawScript() {
  return scenario().steps.map((step, index) => {
    const line = make('li', step.expected !== undefined ? 'wrong' : '', make('span', 'number', String(step.line).padStart(3) + ' '),
      step.text, make('span', 'soft', ' → '), make('span', resultClass(step), (step.expected !== undefined ? '✗ ' : '') + step.came));
    line.addEventListener('click', () => show(index));
    return line;
  });
}

function writeLegend() {
  element('legend').textContent = '';
  const last = scenario().steps[scenario().steps.length - 1], things = last === undefined ? [] : last.state;
  for (const thing of things.filter(each => each.kind === 'context').slice(0, 12))
    addKey(fillClass(thing.device, thing.number), thing.name + ' on GPU ' + thing.device);
  addKey('current', 'top of a stack: current');
  addKey('gone', '✗ destroyed or inactive');
  addKey('changed', 'changed by this step');
  element('legend').append(make('span', '', '◔ work that nothing has waited for'));
}

/* ---- showing ---- */
let naming = 0; /* the address follows when the steps rest: browsers allow it so often only */

function show(to) {
  const steps = scenario().steps, lines = element('script').children;
  if (steps.length === 0) return;
  at = Math.min(Math.max(to, 0), steps.length - 1);
  const step = now();
  [...lines].forEach((line, index) => line.classList.toggle('now', index === at));
  const list = element('script'), tall = lines[at].offsetHeight, top = lines[at].offsetTop - list.offsetTop;
  list.scrollTop = Math.min(Math.max(list.scrollTop, top + 2 * tall - list.clientHeight), Math.max(0, top - tall));
  element('at').textContent = (at + 1) + ' of ' + steps.length;
  element('step').replaceChildren(make('code', '', step.text), ' → ', make('code', resultClass(step), step.came));
  element('told').replaceChildren(...drawTold(step));
  element('stacks').replaceChildren(...drawStacks(step));
  element('devices').replaceChildren(...drawDevices(step));
  element('memory').replaceChildren(...pick(step, thing => thing.kind === 'memory' && thing.device < 0)
    .map(index => drawMemory(step, index)));
  element('memory').previousElementSibling.hidden = element('memory').childElementCount === 0;
  element('verdict').hidden = at < steps.length - 1;
  for (const id of ['first', 'back']) element(id).disabled = at === 0;
  for (const id of ['on', 'last']) element(id).disabled = at === steps.length - 1;
  clearTimeout(naming);
  naming = setTimeout(() => history.replaceState(null, '', '#' + (playing + 1) + '.' + (at + 1)), 300);
}

function open(which, step) {
  playing = Math.min(Math.max(which, 0), scenarios.length - 1);
  element('scenario').value = playing;
  element('title').textContent = scenario().file.replace(/.*\//, '');
  document.title = 'ctxrt play: ' + element('title').textContent;
  element('script').replaceChildren(...drawScript());
  element('verdict').replaceChildren(...[scenario().verdict, scenario().why].filter(text => text).map(text => make('b', '', text + ' ')));
  if (scenario().explanation) element('verdict').append(make('pre', '', scenario().explanation));
  writeLegend();
  show(step);
}

element('first').addEventListener('click', () => show(0));
element('back').addEventListener('click', () => show(at - 1));
element('on').addEventListener('click', () => show(at + 1));
element('last').addEventListener('click', () => show(Infinity));
element('scenario').addEventListener('change', event => open(Number(event.target.value), 0));

const keys = {
  'ArrowLeft': () => show(at - 1), 'p': () => show(at - 1), 'ArrowRight': () => show(at + 1), 'n': () => show(at + 1),
  'Home': () => show(0), 'End': () => show(Infinity), '[': () => open(playing - 1, 0), ']': () => open(playing + 1, 0),
};
addEventListener('keydown', event => {
  if (event.target === element('scenario') || event.ctrlKey || event.altKey || event.metaKey || keys[event.key] === undefined) return;
  event.preventDefault();
  keys[event.key]();
});

scenarios.forEach((each, index) => {
  const option = make('option', '', each.file);
  option.value = index;
  element('scenario').append(option);
});
element('scenario').hidden = scenarios.length < 2;
/* page.html#2.5 begins with the fifth step of the second scenario. */
const [wanted, step] = location.hash.slice(1).split('.').map(Number);
if (scenarios.length > 0) open((wanted || 1) - 1, (step || 1) - 1);
