// Drawing, choosing, opening and moving.
// ---- drawing
const element = (name, attributes, parent) => {
  const e = document.createElementNS(NS, name);
  for (const key in attributes) e.setAttribute(key, attributes[key]);
  if (parent) parent.appendChild(e);
  return e;
};

let shapes = new Map();
function draw() {
  const view = $('view');
  view.replaceChildren();
  shapes = new Map();
  layoutGroup(root, liftEdges());
  drawGroup(root, 0, 0, view, true);
  mark();
}

function drawGroup(group, x, y, parent, top) {
  group.ax = x; group.ay = y;
  if (!top) {
    const shade = 252 - 7 * Math.min(group.depth, 8);
    const box = element('rect', {x, y, width: group.w, height: group.h, rx: 8, class: 'box group', fill: `rgb(${shade - 4},${shade},${shade + 3})`}, parent);
    shapes.set(group.id, box);
    box.addEventListener('click', event => { event.stopPropagation(); toggle(group); });
    const text = element('text', {x: x + 10, y: y + 17, 'font-weight': 600}, parent);
    text.textContent = '− ' + group.label;
  }
  for (const e of group.edges) drawEdge(e, x, y, parent);
  for (const i of group.items) {
    if (i.items) drawGroup(i, x + i.x, y + i.y, parent, false); else drawBox(i, x + i.x, y + i.y, parent);
  }
}

function drawBox(item, x, y, parent) {
  item.ax = x; item.ay = y;
  const leaf = item.single;  // null for a scope
  const fill = leaf ? kindOf(leaf.node.o)[1] : '#dbe4ee';
  const box = element('rect', {x, y, width: item.w, height: item.h, rx: leaf ? 15 : 6, class: leaf ? 'box' : 'box group', fill}, parent);
  shapes.set(item.id, box);
  if (leaf) {
    shapes.set(leaf.id, box);
    Object.assign(leaf, {ax: x, ay: y, w: item.w, h: item.h});
  }
  element('title', {}, box).textContent = leaf ? leaf.id + '\n' + leaf.node.o : item.id + ' (click to open)';
  box.addEventListener('click', event => {
    event.stopPropagation();
    if (leaf) choose(leaf); else toggle(item);
  });
  const text = element('text', {x: x + item.w / 2, y: y + (leaf ? 15 : 19), 'text-anchor': 'middle', 'font-weight': leaf ? 400 : 600}, parent);
  text.textContent = (leaf ? '' : '+ ') + item.label;
  if (leaf) element('text', {x: x + item.w / 2, y: y + 27, 'text-anchor': 'middle', class: 'op'}, parent).textContent = leaf.node.o;
}

function drawEdge(e, x, y, parent) {
  const x1 = x + e.a.x + e.a.w / 2, x2 = x + e.b.x + e.b.w / 2;
  let d;
  if (e.back || e.b.y < e.a.y + e.a.h) {
    const y1 = y + e.a.y + e.a.h / 2, y2 = y + e.b.y + e.b.h / 2;
    const left = x + Math.min(e.a.x, e.b.x) - 10;
    d = `M${x + e.a.x} ${y1}C${left - 20} ${y1} ${left - 20} ${y2} ${x + e.b.x} ${y2}`;
  } else {
    const y1 = y + e.a.y + e.a.h, y2 = y + e.b.y, bend = Math.min(60, (y2 - y1) / 2);
    d = `M${x1} ${y1}C${x1} ${y1 + bend} ${x2} ${y2 - bend} ${x2} ${y2}`;
  }
  const path = element('path', {d, class: 'edge' + (e.control ? ' control' : '') + (e.back ? ' back' : ''), 'stroke-width': Math.min(6, 1 + Math.log2(e.count)), 'marker-end': 'url(#tip)'}, parent);
  element('title', {}, path).textContent = `${e.a.id} → ${e.b.id}: ${e.count} ${e.control ? 'control edge' : 'tensor'}${e.count > 1 ? 's' : ''}`;
  path.edge = e;
}

// ---- choosing and opening
function toggle(group) {
  const before = [group.ax, group.ay];
  if (open.has(group.id)) open.delete(group.id); else {
    open.add(group.id);
    // A scope that holds nothing but one scope is opened with it.
    let g = group;
    while (g.children.size === 1 && [...g.children.values()][0].children) { g = [...g.children.values()][0]; open.add(g.id); }
  }
  draw();
  // What was clicked stays under the pointer.
  pan.x += (before[0] - group.ax) * pan.k;
  pan.y += (before[1] - group.ay) * pan.k;
  move();
  details(group);
}

function choose(leaf) {
  chosen = leaf;
  mark();
  details(leaf);
}

function reveal(leaf) {
  if (hidden(leaf)) $('constants').checked = true;
  for (let g = leaf.parent; g.parent; g = g.parent) open.add(g.id);
  draw();
  choose(leaf);
  const size = $('canvas').getBoundingClientRect();
  pan.k = Math.max(pan.k, 0.8);
  pan.x = size.width / 2 - (leaf.ax + leaf.w / 2) * pan.k;
  pan.y = size.height / 2 - (leaf.ay + leaf.h / 2) * pan.k;
  move();
}

function shownFor(leaf) {
  let shown = leaf;
  for (let g = leaf.parent; g && g.parent; g = g.parent) if (!open.has(g.id)) shown = g;
  return shown;
}

function mark() {
  for (const s of shapes.values()) s.classList.remove('chosen', 'near');
  document.querySelectorAll('path.hot').forEach(p => p.classList.remove('hot'));
  if (!chosen || !shapes.get(chosen.id)) return;
  shapes.get(chosen.id).classList.add('chosen');
  const n = chosen.node, near = [...(n.i || []), ...(n.c || []), ...graph.users[chosen.index]];
  for (const i of near) {
    const s = shapes.get(shownFor(graph.leaves[i]).id);
    if (s && s !== shapes.get(chosen.id)) s.classList.add('near');
  }
  document.querySelectorAll('path.edge').forEach(p => {
    if (p.edge && ((p.edge.a.single || p.edge.a) === chosen || (p.edge.b.single || p.edge.b) === chosen)) p.classList.add('hot');
  });
}

function link(leaf, text) {
  const a = document.createElement('a');
  a.textContent = text || leaf.id;
  a.onclick = () => reveal(leaf);
  return a;
}

function list(parent, title, leaves) {
  if (!leaves.length) return;
  parent.append(Object.assign(document.createElement('h3'), {textContent: `${title} (${leaves.length})`}));
  for (const leaf of leaves.slice(0, 50)) {
    const row = document.createElement('div');
    row.append(link(leaf), ' ' + leaf.node.o);
    parent.append(row);
  }
  if (leaves.length > 50) parent.append(`and ${leaves.length - 50} more`);
}

function rows(parent, pairs) {
  const table = document.createElement('table');
  for (const [key, value] of pairs) {
    const row = table.insertRow();
    row.insertCell().textContent = key;
    const cell = row.insertCell();
    const target = graphs.findIndex(g => g.name && g.name === value);
    if (target > 0) {
      const a = Object.assign(document.createElement('a'), {textContent: value});
      a.onclick = () => { $('which').value = target; show(target); };
      cell.append(a);
    } else cell.textContent = value;
  }
  parent.append(table);
}

function details(item) {
  const panel = $('details');
  panel.replaceChildren(Object.assign(document.createElement('h2'), {textContent: item.id || 'the whole graph'}));
  if (item.children) {
    const ops = new Map();
    const walk = g => { for (const c of g.children.values()) c.children ? walk(c) : ops.set(c.node.o, (ops.get(c.node.o) || 0) + 1); };
    walk(item);
    rows(panel, [['nodes', item.size], ...[...ops].sort((a, b) => b[1] - a[1]).slice(0, 14)]);
    return;
  }
  const n = item.node;
  rows(panel, [['op', n.o], ...(n.d ? [['device', n.d]] : []), ...Object.entries(n.a)]);
  list(panel, 'inputs', (n.i || []).map(i => graph.leaves[i]));
  list(panel, 'control inputs', (n.c || []).map(i => graph.leaves[i]));
  list(panel, 'used by', graph.users[item.index].map(i => graph.leaves[i]));
}

// ---- moving
const pan = {x: 0, y: 0, k: 1};
const move = () => $('view').setAttribute('transform', `translate(${pan.x},${pan.y}) scale(${pan.k})`);
function fit() {
  const size = $('canvas').getBoundingClientRect();
  pan.k = Math.min(1.2, (size.width - 20) / root.w, (size.height - 20) / root.h);
  pan.x = (size.width - root.w * pan.k) / 2;
  pan.y = Math.max(4, (size.height - root.h * pan.k) / 2) - HEAD * pan.k / 2;
  move();
}
let drag = null;
$('canvas').addEventListener('pointerdown', e => { drag = [e.clientX, e.clientY, pan.x, pan.y]; });
window.addEventListener('pointermove', e => {
  if (!drag) return;
  if (!e.buttons) { drag = null; $('canvas').classList.remove('dragging'); return; }
  $('canvas').classList.add('dragging');
  pan.x = drag[2] + e.clientX - drag[0];
  pan.y = drag[3] + e.clientY - drag[1];
  move();
});
window.addEventListener('pointerup', () => { drag = null; $('canvas').classList.remove('dragging'); });
$('canvas').addEventListener('wheel', e => {
  e.preventDefault();
  const size = $('canvas').getBoundingClientRect(), factor = Math.exp(-e.deltaY / 500);
  const px = e.clientX - size.left, py = e.clientY - size.top;
  pan.x = px - (px - pan.x) * factor;
  pan.y = py - (py - pan.y) * factor;
  pan.k *= factor;
  move();
}, {passive: false});
$('canvas').addEventListener('click', () => { chosen = null; mark(); details(root); });

// ---- controls
function show(index) {
  graph = graphs[index];
  root = buildTree(graph);
  open = new Set();
  chosen = null;
  let g = root;  // scopes around everything are opened at once
  while ([...g.children.values()].filter(c => c.children || !hidden(c)).length === 1) {
    g = [...g.children.values()].find(c => c.children || !hidden(c));
    if (!g.children) break;
    open.add(g.id);
  }
  draw();
  fit();
  details(root);
}
graphs.forEach((g, i) => {
  $('which').append(Object.assign(document.createElement('option'), {value: i, textContent: (g.name || 'graph') + ` (${g.nodes.length})`}));
});
$('which').style.display = graphs.length > 1 ? '' : 'none';
$('which').onchange = () => show(+$('which').value);
$('fit').onclick = fit;
$('collapse').onclick = () => { open.clear(); draw(); fit(); };
$('constants').onchange = $('controls').onchange = () => { draw(); };
$('search').oninput = () => {
  const text = $('search').value.toLowerCase(), found = $('found');
  found.replaceChildren();
  if (!text) return;
  const leaves = graph.leaves.filter(l => l.id.toLowerCase().includes(text) || l.node.o.toLowerCase() === text);
  for (const leaf of leaves.slice(0, 60)) {
    const row = document.createElement('div');
    row.append(link(leaf));
    found.append(row);
  }
  found.append(`${leaves.length} found`);
};

(function legend() {
  const place = $('legend');
  place.append(Object.assign(document.createElement('h3'), {textContent: 'Legend'}));
  const row = (svg, text) => {
    const div = document.createElement('div');
    div.innerHTML = `<svg width="34" height="16">${svg}</svg>`;
    div.append(text);
    place.append(div);
  };
  row('<rect x="1" y="1" width="32" height="14" rx="4" fill="#dbe4ee" stroke="#52667a"/>', 'name scope with its number of nodes: click to open or close');
  for (const k of [...kinds, ['other', '#ffffff', 'other ops']]) row(`<rect x="1" y="1" width="32" height="14" rx="7" fill="${k[1]}" stroke="#7b8794"/>`, k[2]);
  row('<path d="M1 8H33" stroke="#9aa8b5" stroke-width="3"/>', 'tensors: the thicker, the more');
  row('<path d="M1 8H33" stroke="#9aa8b5" stroke-width="1.5" stroke-dasharray="4 3"/>', 'control edges only');
  row('<path d="M1 8H33" stroke="#c2255c" stroke-width="1.5"/>', 'backwards: a loop');
  place.append(Object.assign(document.createElement('p'), {textContent: 'Drag to move, wheel to zoom. Constants are hidden unless asked for; values of large ones are not in this page.'}));
})();

if (location.hash) {  // #open=a/,b/ and #node=name, for links into a page
  const asked = new URLSearchParams(location.hash.slice(1));
  show(+(asked.get('graph') || 0));
  for (const id of (asked.get('open') || '').split(',')) if (id) open.add(id);
  draw();
  fit();
  const leaf = graph.leaves.find(l => l.id === asked.get('node'));
  if (leaf) reveal(leaf);
} else {
  show(0);
}
