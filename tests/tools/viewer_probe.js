/* Runs in the page of tests/tools/viewer.sh, behind probe.js: opens the timeline in the viewer, and says what the viewer has of it. */
const counts = new Map();
const count = what => counts.set(what, (counts.get(what) || 0) + 1);

/* Of slices beside each other, those that begin before the one before them has ended. The times are milliseconds, whole to 1 ns. */
function overlaps(slices) {
  let found = 0;
  slices.forEach((slice, i) => {
    if (i > 0 && slices[i - 1].end - slice.start > 1e-7) found++;
    found += overlaps(slice.subSlices);
  });
  return found;
}

const called = slice => slice.category === 'call' ? slice.title : slice.args.call;

function isInPlace(arrow) {
  const from = arrow.startSlice, to = arrow.endSlice;
  if (arrow.category === 'work')
    return from.category === 'call' && to.category !== 'call' && to.args.call === from.title && to.args.arguments === from.args.arguments;
  return /EventRecord|RecordEvent/.test(called(from)) && /Wait|EventSynchronize/.test(called(to));
}

function countProcess(process) {
  say('process ' + process.pid, process.name);
  for (const thread of Object.values(process.threads)) {
    const track = process.pid + ' ' + thread.tid;
    say('track ' + track, thread.name);
    for (const slice of thread.sliceGroup.slices) count('slice ' + track + ' ' + slice.category);
  }
  for (const counter of Object.values(process.counters)) say('counter ' + process.pid + ' ' + counter.name, counter.numSamples);
}

function countModel(model) {
  const threads = model.getAllThreads();
  model.getAllProcesses().forEach(countProcess);
  model.flowEvents.forEach(arrow => count('arrow ' + arrow.category));
  counts.forEach((number, what) => say(what, number));
  say('warnings', model.importWarnings.map(warning => warning.type + ' ' + warning.message).join(', ') || 'none');
  say('overlaps', threads.reduce((so, thread) => so + overlaps(thread.sliceGroup.topLevelSlices), 0));
  const elsewhere = model.flowEvents.filter(arrow => !isInPlace(arrow));
  say('arrows elsewhere', elsewhere.map(arrow => arrow.category + ' ' + arrow.id + ' from ' + arrow.startSlice.title + ' to ' +
    arrow.endSlice.title).join(', ') || 'none');
  say('unit', model.intrinsicTimeUnit === tr.b.TimeDisplayModes.ns ? 'ns' : 'another');
}

const timeline = document.getElementById('timeline');

/* The viewer's elements are made by Polymer, which comes with it. They draw when the browser does. */
function show(model) {
  const room = document.createElement('div'), tracks = document.createElement('track-view-container');
  const viewer = document.createElement('tr-ui-timeline-view');
  tracks.id = 'track_view_container';
  viewer.track_view_container = tracks;
  Polymer.dom(viewer).appendChild(tracks);
  timeline.parentNode.replaceChild(room, timeline);
  Polymer.dom(room).appendChild(viewer);
  viewer.model = model;
}

/* Virtual time leaps to its end when nothing is left to do, and elements are made in a frame, which comes in real time: work until then. */
const working = setInterval(() => { for (let i = 0; i < 1e6; i++); }, 1);

function sayDrawn() {
  const drawn = document.querySelectorAll('.thread-track').length;
  if (drawn === 0) return requestAnimationFrame(sayDrawn);
  say('drawn', drawn);
  say('done', true);
  clearInterval(working);
}

document.addEventListener('WebComponentsReady', () => {
  try {
    const model = new tr.Model();
    new tr.importer.Import(model).importTraces([timeline.textContent]);
    countModel(model);
    show(model);
    sayDrawn();
  } catch (error) {
    say('failed', error.stack || error);
    clearInterval(working);
  }
});
