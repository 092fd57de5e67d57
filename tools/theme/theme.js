'use strict';
/* ---- the look: a device has a hue, a context its device's hue and a pattern ---- */
const HUES = 8, PATTERNS = 7;
const SHAPES = ['', 'M0 8L8 0', 'M3 3h2v2h-2z', 'M0 4H8', 'M0 0L8 8', 'M4 0V8', 'M0 4H8M4 0V8'];
const element = id => document.getElementById(id);

/* A device's name in the palette; -1 is the CPU's, undefined one that is unknown. */
const hueOf = device => device === undefined || device < 0 ? 'cpu' : 'gpu' + device % HUES;
/* The pattern of a context by its number, from 1. */
const patternOf = number => number > 0 ? (number - 1) % PATTERNS : 0;
const fillClass = (device, number) => 'filled ' + hueOf(device) + ' pattern' + patternOf(number);
const colourOf = name => getComputedStyle(document.documentElement).getPropertyValue('--' + name).trim();

/* The same for a canvas: a tile to fill with. */
function fillTile(device, number) {
  const tile = document.createElement('canvas'), draw = tile.getContext('2d'), name = hueOf(device);
  tile.width = tile.height = 8;
  draw.fillStyle = colourOf(name);
  draw.fillRect(0, 0, 8, 8);
  draw.globalAlpha = .4;
  draw.strokeStyle = colourOf(name + '-edge');
  draw.stroke(new Path2D(SHAPES[patternOf(number)]));
  return tile;
}

/* An element of a class with a text or with children. */
function make(tag, name, ...inside) {
  const made = document.createElement(tag);
  if (name) made.className = name;
  made.append(...inside);
  return made;
}

function addKey(name, text) {
  element('legend').append(make('span', '', make('i', 'key ' + name), text));
}
