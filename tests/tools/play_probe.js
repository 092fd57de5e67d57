/* Runs in the page of ctxrt play, behind probe.js: steps through it as a person would, and compares what is drawn with the JSON. */
const key = name => dispatchEvent(new KeyboardEvent('keydown', {key: name, cancelable: true}));
const where = () => (playing + 1) + '.' + element('at').textContent;
const all = selector => [...document.querySelectorAll(selector)];
const texts = selector => all(selector).map(one => one.textContent).join(', ');

/* The JSON itself, not what the page made of it. */
const raw = JSON.parse(element('played').textContent).scenarios.slice(1).map(each => each.steps.slice(1));

function compareStep(step, things) {
  step.things.forEach(([index, thing]) => { things[index] = thing; });
  const alive = things.filter(thing => thing.end === undefined || thing.end === 'reset');
  const of = kind => alive.filter(thing => thing.kind === kind).length;
  const ended = new Set(step.things.filter(([, thing]) => thing.end !== undefined && thing.end !== 'reset').map(([, thing]) => thing.kind));
  const counts = {'.stack': step.stacks.length, '.entry': step.stacks.reduce((so, [, ...entries]) => so + entries.length, 0),
    '.entry.current': step.stacks.filter(([, ...entries]) => entries.length > 0).length, '#script .now': 1};
  if (!ended.has('context'))
    counts['.context:not(.gone)'] = things.filter(thing => thing.kind === 'context' && thing.end === undefined).length;
  if (ended.size === 0) Object.assign(counts, {'.item.event': of('event'), '.item.memory': of('memory')});
  if (!things.some(thing => thing.kind === 'context' && thing.end !== undefined)) counts['.work'] = step.work.length;
  for (const [selector, count] of Object.entries(counts))
    if (all(selector).length !== count) return selector + ' ' + all(selector).length + ' for ' + count;
  return '';
}

function compareAll() {
  const wrong = [];
  let count = 0;
  for (const [which, steps] of raw.entries()) {
    open(which, 0);
    const states = new Map();
    for (const [index, step] of steps.entries()) {
      show(index);
      if (!states.has(step.process)) states.set(step.process, []);
      const difference = compareStep(step, states.get(step.process));
      if (difference !== '') wrong.push((which + 1) + '.' + (index + 1) + ' ' + difference);
      count++;
    }
  }
  say('compared', count + ' steps of ' + raw.length + ' scenarios');
  say('different', wrong.join('; ') || 'nothing');
}

function lookAtStep(number) {
  show(number - 1);
  const entryText = entry => entry.textContent + (entry.classList.contains('current') ? '*' : '');
  say(number + ' stacks', all('.stack').map(stack => stack.querySelector('b').textContent + ' ' +
    [...stack.querySelectorAll('.entry')].map(entryText).join('/')).join(', '));
  say(number + ' contexts', texts('.context .name'));
  say(number + ' looks', all('.context').map(one => one.className).join(', '));
  say(number + ' items', texts('.item'));
  say(number + ' rules', texts('.rule'));
  say(number + ' hover', all('.entry, .context, .item').map(one => one.title).join(' ; '));
}

function tryKeys() {
  open(0, 0);
  const seen = [where()];
  for (const name of ['ArrowRight', 'n', 'ArrowLeft', 'p', 'p', 'End', 'ArrowRight', 'Home', ']', 'End', ']', '[']) {
    key(name);
    seen.push(where());
  }
  say('keys', seen.join(', '));
  const pressed = ['last', 'back', 'first', 'on'].map(id => { element(id).click(); return where(); });
  say('buttons', pressed.join(', '));
  open(0, 0);
  element('script').children[2].click();
  say('a click', where());
  element('scenario').value = 1;
  element('scenario').dispatchEvent(new Event('change'));
  say('the list', where() + ' ' + element('title').textContent);
  say('verdict', (show(Infinity), element('verdict').textContent.trim()));
  say('wrong', texts('#told .mark'));
}

say('legend', [...element('legend').children].map(one => one.textContent).join(', '));
compareAll();
open(0, 0);
for (const number of [6, 9, 14]) lookAtStep(number);
const link = document.querySelector('.rule a');
say('link', link.getAttribute('href').replace(/.*\//, '') + ' ' + link.parentElement.title);
tryKeys();
open(2, Infinity);
const rows = new Set(all('.stack').map(one => one.offsetTop + one.offsetHeight));
const narrow = document.documentElement.scrollWidth <= innerWidth;
say('24 threads', all('.stack').length + ' stacks, narrow ' + narrow + ', rows ' + (rows.size > 2));
sayColours();
say('done', true);
