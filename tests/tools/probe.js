/* Comes before the probe of a page, which writes what it found, one line each. */
const told = document.createElement('pre');
told.id = 'probe';
told.hidden = true;
document.body.appendChild(told);

const say = (what, value) => told.append(what + ': ' + String(value).replaceAll('\n', ' | ') + '\n');

/* The lightness of a colour of the palette, as the Web's guidelines for accessibility have it. */
function lightness(name) {
  const parts = [1, 3, 5].map(at => parseInt(colourOf(name).slice(at, at + 2), 16) / 255)
    .map(part => part <= .04045 ? part / 12.92 : ((part + .055) / 1.055) ** 2.4);
  return .2126 * parts[0] + .7152 * parts[1] + .0722 * parts[2];
}

function contrast(one, other) {
  const [low, high] = [lightness(one), lightness(other)].sort((left, right) => left - right);
  return (high + .05) / (low + .05);
}

/* Says the theme, and each pair of colours that is hard to read. */
function sayColours() {
  const fills = [...Array(8).keys()].map(i => 'gpu' + i).concat('cpu'), weak = [];
  const pairs = [...fills.map(name => ['ink', name, 7]), ...fills.map(name => [name + '-edge', 'paper', 4]),
    ...['ink', 'soft', 'wrong', 'good', 'mark'].map(name => [name, 'paper', 4.5]),
    ...['kernel', 'move', 'host', 'order', 'wait', 'submission', 'wrong'].map(name => ['paper', name, 4.5]), ['ink', 'call', 4.5]];
  for (const [one, other, least] of pairs)
    if (!(contrast(one, other) >= least)) weak.push(one + ' on ' + other + ' ' + contrast(one, other).toFixed(2));
  say('hard to read', weak.join(', ') || 'nothing');
  say('theme', lightness('paper') > .5 ? 'light' : 'dark');
  say('background', getComputedStyle(document.body).backgroundColor);
}
