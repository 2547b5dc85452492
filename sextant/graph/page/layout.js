// The graphs of the page, their trees of name scopes, and where everything stands.
'use strict';
const graphs = JSON.parse(document.getElementById('data').textContent);
const $ = id => document.getElementById(id);
const NS = 'http://www.w3.org/2000/svg';

// ---- colours by what an op does
const kinds = [
  ['input', '#b2f2bb', 'input', /^(Placeholder.*|_Arg|.*Iterator.*GetNext.*|.*Iterator(V2)?)$/],
  ['result', '#ffd8a8', 'result of a function', /^_Retval$/],
  ['variable', '#ffe066', 'variable and table', /^(Variable.*|VarHandleOp|.*HashTable.*|ReadVariableOp|VarIsInitializedOp)$/],
  ['constant', '#e9ecef', 'constant', /^Const$/],
  ['flow', '#e5dbff', 'control flow and calls', /^(If|While|StatelessIf|StatelessWhile|Switch|Merge|Enter|Exit|NextIteration|LoopCond|.*PartitionedCall|NoOp|Identity.*|Assert)$/],
  ['state', '#ffc9c9', 'assign, save, restore', /^(Assign.*|.*Apply.*|Save.*|Restore.*|Merge.*Checkpoints|.*InitializeTable.*|LookupTableImport.*)$/],
  ['math', '#a5d8ff', 'products and convolutions', /(MatMul|Conv|Pool|BatchNorm|LRN|Einsum)/],
];
const kindOf = op => kinds.find(k => k[3].test(op)) || ['other', '#ffffff', 'other ops'];

// ---- the tree of name scopes
// A group has children by their last name part; a leaf is a node.
function buildTree(graph) {
  const root = {id: '', name: '', children: new Map(), parent: null, depth: 0};
  const groups = new Map([['', root]]);
  const prefixes = new Set();
  for (const n of graph.nodes) {
    for (let i = n.n.indexOf('/'); i >= 0; i = n.n.indexOf('/', i + 1)) prefixes.add(n.n.slice(0, i));
  }
  const group = path => {
    if (groups.has(path)) return groups.get(path);
    const cut = path.lastIndexOf('/');
    const parent = group(cut < 0 ? '' : path.slice(0, cut));
    const made = {id: path + '/', name: path.slice(cut + 1), children: new Map(), parent, depth: parent.depth + 1};
    groups.set(path, made);
    parent.children.set(made.id, made);
    return made;
  };
  graph.leaves = graph.nodes.map((n, index) => {
    // A node that a scope is named after stands inside that scope.
    const inside = prefixes.has(n.n);
    const cut = n.n.lastIndexOf('/');
    const parent = group(inside ? n.n : cut < 0 ? '' : n.n.slice(0, cut));
    const leaf = {id: n.n, name: inside ? '(' + n.n.slice(cut + 1) + ')' : n.n.slice(cut + 1), node: n, index, parent, depth: parent.depth + 1};
    parent.children.set(leaf.id, leaf);
    return leaf;
  });
  const count = g => g.size = [...g.children.values()].reduce((sum, c) => sum + (c.children ? count(c) : 1), 0);
  count(root);
  graph.users = graph.nodes.map(() => []);
  graph.nodes.forEach((n, i) => {
    for (const source of new Set([...(n.i || []), ...(n.c || [])])) graph.users[source].push(i);
  });
  return root;
}

let graph, root, open, chosen = null;

const hidden = leaf => !$('constants').checked && leaf.node.o === 'Const';

// ---- layout: in each open group the children stand in layers, each below those it takes from
const PAD = 16, GAPX = 18, GAPY = 34, HEAD = 22;

function liftEdges() {
  // For every open group: "from child|to child" -> {count, control}. One pass over all edges.
  const lifted = new Map();
  const shown = $('controls').checked;
  graph.nodes.forEach((n, to) => {
    const target = graph.leaves[to];
    if (hidden(target)) return;
    const add = (from, control) => {
      const source = graph.leaves[from];
      if (hidden(source) || source === target) return;
      let a = source, b = target;
      while (a.depth > b.depth) a = a.parent;
      while (b.depth > a.depth) b = b.parent;
      if (a === b) return;  // a scope and a node in it: cannot be, leaves hold nothing
      while (a.parent !== b.parent) { a = a.parent; b = b.parent; }
      const key = a.id + '\n' + b.id;
      if (!lifted.has(a.parent)) lifted.set(a.parent, new Map());
      const edges = lifted.get(a.parent);
      const edge = edges.get(key) || {a, b, count: 0, control: true};
      edge.count += 1;
      edge.control = edge.control && control;
      edges.set(key, edge);
    };
    for (const from of n.i || []) add(from, false);
    if (shown) for (const from of n.c || []) add(from, true);
  });
  return lifted;
}

function visibleSize(group) {
  let size = 0;
  for (const c of group.children.values()) size += c.children ? visibleSize(c) : hidden(c) ? 0 : 1;
  return size;
}

// The only node that a group shows: then the group is drawn as that node.
function onlyLeaf(group) {
  if (visibleSize(group) !== 1) return null;
  for (const c of group.children.values()) {
    if (c.children ? visibleSize(c) === 1 : !hidden(c)) return c.children ? onlyLeaf(c) : c;
  }
  return null;
}

function layoutLeaf(item) {
  item.single = item.children ? onlyLeaf(item) : item;
  const label = item.single ? item.name : item.name + '  (' + visibleSize(item) + ')';
  item.label = label.length > 34 ? label.slice(0, 16) + '…' + label.slice(-16) : label;
  item.w = Math.max(64, (item.single ? 7 : 8) * item.label.length + 26, item.single ? 5.8 * item.single.node.o.length + 18 : 0);
  item.h = item.single ? 34 : 30;
}

function layoutGroup(group, lifted) {
  const items = [...group.children.values()].filter(c => c.children ? visibleSize(c) > 0 : !hidden(c));
  for (const item of items) {
    if (item.children && open.has(item.id) && visibleSize(item) > 1) layoutGroup(item, lifted); else { layoutLeaf(item); item.items = null; }
  }
  const all = [...(lifted.get(group) || new Map()).values()];
  const out = new Map(items.map(i => [i, []])), into = new Map(items.map(i => [i, []]));
  const edges = all.filter(e => out.has(e.a) && into.has(e.b));
  edges.forEach(e => { e.back = false; out.get(e.a).push(e); });
  breakCycles(items, out);
  for (const e of edges) if (!e.back) into.get(e.b).push(e);
  const linked = items.filter(i => edges.some(e => e.a === i || e.b === i));
  const alone = items.filter(i => !linked.includes(i));

  assignLayers(linked, out, into);
  const layers = [];
  for (const i of linked) (layers[i.layer] = layers[i.layer] || []).push(i);
  orderLayers(layers, out, into);
  let y = HEAD + PAD, width = 0;
  for (const layer of layers) {
    // A very wide layer is broken into rows.
    const rows = [[]];
    let used = 0;
    for (const i of layer) {
      if (used + i.w > 1500 && rows[rows.length - 1].length) { rows.push([]); used = 0; }
      rows[rows.length - 1].push(i);
      used += i.w + GAPX;
    }
    for (const row of rows) {
      const w = row.reduce((sum, i) => sum + i.w, 0) + GAPX * (row.length - 1);
      row.width = w;
      width = Math.max(width, w);
      const h = Math.max(...row.map(i => i.h));
      for (const i of row) { i.y = y + (h - i.h) / 2; i.row = row; }
      y += h + (row === rows[rows.length - 1] ? GAPY : GAPX);
    }
    layer.rows = rows;
  }
  if (alone.length) {
    const area = alone.reduce((sum, i) => sum + (i.w + GAPX) * (i.h + GAPX), 0);
    const limit = Math.max(width, Math.min(1500, Math.sqrt(area) * 1.6));
    let x = 0, h = 0;
    for (const i of alone) {
      if (x > 0 && x + i.w > limit) { x = 0; y += h + GAPX; h = 0; }
      i.x = x; i.y = y; i.loose = true;
      x += i.w + GAPX;
      h = Math.max(h, i.h);
      width = Math.max(width, x - GAPX);
    }
    y += h + PAD;
  } else {
    y += PAD - GAPY;
  }
  for (const layer of layers) for (const row of layer.rows) {
    let x = (width - row.width) / 2;
    for (const i of row) { i.x = x; x += i.w + GAPX; }
  }
  settle(layers, out, into, width);
  for (const i of items) i.x += PAD;
  group.items = items;
  group.edges = edges;
  group.label = group.name + '  (' + visibleSize(group) + ')';
  group.w = Math.max(width, 7 * group.label.length + 20) + 2 * PAD;
  const extra = group.w - width - 2 * PAD;
  for (const i of items) i.x += extra / 2;
  group.h = Math.max(y, HEAD + 2 * PAD);
}

// Edges that close a cycle (v1 loops, scopes that feed each other) are drawn, but do not count.
function breakCycles(items, out) {
  const state = new Map();
  for (const start of items) {
    if (state.get(start)) continue;
    const stack = [[start, 0]];
    state.set(start, 1);
    while (stack.length) {
      const top = stack[stack.length - 1];
      const edges = out.get(top[0]);
      if (top[1] === edges.length) { state.set(top[0], 2); stack.pop(); continue; }
      const e = edges[top[1]++];
      const s = state.get(e.b);
      if (s === 1) e.back = true;
      else if (!s) { state.set(e.b, 1); stack.push([e.b, 0]); }
    }
  }
}

function assignLayers(items, out, into) {
  const left = new Map(items.map(i => [i, into.get(i).length]));
  const ready = items.filter(i => !left.get(i));
  for (const i of items) { i.layer = 0; i.loose = false; }
  const order = [];
  for (let k = 0; k < ready.length; ++k) {
    order.push(ready[k]);
    for (const e of out.get(ready[k])) {
      if (e.back) continue;
      e.b.layer = Math.max(e.b.layer, ready[k].layer + 1);
      left.set(e.b, left.get(e.b) - 1);
      if (!left.get(e.b)) ready.push(e.b);
    }
  }
  // Sources move down to just above their first user.
  for (const i of order.reverse()) {
    const users = out.get(i).filter(e => !e.back);
    if (users.length && !into.get(i).length) i.layer = Math.min(...users.map(e => e.b.layer)) - 1;
  }
}

function orderLayers(layers, out, into) {
  const number = () => layers.forEach(layer => layer.forEach((i, k) => i.pos = k - layer.length / 2));
  number();
  const mean = (edges, end) => edges.length ? edges.reduce((sum, e) => sum + e[end].pos, 0) / edges.length : null;
  for (let sweep = 0; sweep < 6; ++sweep) {
    const down = sweep % 2 === 0;
    const order = down ? layers : [...layers].reverse();
    for (const layer of order) {
      for (const i of layer) {
        const m = down ? mean(into.get(i), 'a') : mean(out.get(i).filter(e => !e.back), 'b');
        i.want = m === null ? i.pos : m;
      }
      layer.sort((p, q) => p.want - q.want);
      layer.forEach((i, k) => i.pos = k - layer.length / 2);
    }
  }
}

// Moves boxes towards the middle of their neighbours without changing the order in a row.
function settle(layers, out, into, width) {
  const middle = i => i.x + i.w / 2;
  for (let sweep = 0; sweep < 8; ++sweep) {
    const order = sweep % 2 === 0 ? layers : [...layers].reverse();
    for (const layer of order) for (const row of layer.rows) {
      for (const i of row) {
        const near = [...into.get(i).map(e => middle(e.a)), ...out.get(i).filter(e => !e.back).map(e => middle(e.b))];
        i.want = near.length ? near.reduce((s, v) => s + v, 0) / near.length - i.w / 2 : i.x;
      }
      let x = 0;
      for (const i of row) { i.x = Math.max(i.want, x); x = i.x + i.w + GAPX; }
      x = width;
      for (const i of [...row].reverse()) { i.x = Math.min(i.x, x - i.w); x = i.x - GAPX; }
    }
  }
}
