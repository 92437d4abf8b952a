legend(index.legend);

// The highlighted elements, each with the name of its style.
let lit = [];
function light(elements, name) {
  for (const one of elements) { one.classList.add(name); lit.push([one, name]); }
}

function clear() {
  for (const [one, name] of lit) one.classList.remove(name);
  lit = [];
}

const within = (path, outer) => path === outer
  || (path.startsWith(outer) && '.['.includes(path[outer.length]));
const overlaps = (one, other) => one && other && one[0] < other[1] && other[0] < one[1];

// ---- The panes. Each span, field and piece of the source refers to its elements.

const fieldPane = pane('fields', 'the input of the template');
let kind = null;
for (const field of index.fields) {
  if (field.group !== kind) {
    kind = field.group;
    fieldPane.append(element('h3', {}, kind));
  }
  const choose = () => chooseField(field);
  field.label = element('span', { class: 'name', tabindex: '-1', title: field.path }, field.name);
  field.label.addEventListener('focus', choose);
  field.label.addEventListener('click', choose);
  field.made = (field.pieces || []).map(([text, start, end, isUsed]) => ({
    range: [start, end],
    made: piece(text, isUsed ? `of-${field.kind}` : '', choose),
  }));
  for (const part of field.made) part.made.removeAttribute('tabindex');
  for (const part of field.made) part.made.addEventListener('click', choose);
  if (index.spans.some((span) => span.isKey && span.paths[0] === field.path)) field.label.classList.add(`of-${field.kind}`);
  const isUsed = index.spans.some((span) => span.paths.some((path) => within(path, field.path)));
  field.whole = element('div', { class: isUsed ? 'field' : 'field unused', style: `--depth: ${field.depth}` },
    field.label, element('pre', {}, field.made.map((part) => part.made)));
  fieldPane.append(field.whole);
}
const firstName = fieldPane.querySelector('.name');
if (firstName) firstName.tabIndex = 0;

const prompt = element('pre');
index.spans.forEach((span, at) => {
  span.made = piece(span.text, `of-${span.source}`, () => chooseSpan(at));
  prompt.append(span.made);
});
prompt.append(...marked('␃'));
pane('prompt', `the prompt, ${counted(index.bytes, 'byte')}`, prompt);

const [source, sourceMade] = lines(index.source.map(([text, start, end, isLiteral]) => (
  isLiteral ? [text, 'literal', () => chooseLiteral([start, end])] : [text, 'code'])));
pane('source', index.file, source);
const sourceParts = index.source.map(([, start, end], at) => ({ range: [start, end], made: sourceMade[at] }));

// ---- Selection.

const inSource = (range) => sourceParts.filter((part) => overlaps(part.range, range)).flatMap((part) => part.made);

function inFields(span) {
  const found = [];
  for (const field of index.fields) {
    if (!span.paths.includes(field.path)) continue;
    light([field.whole], 'is-on');
    if (span.isKey) { found.push(field.label); continue; }
    const parts = span.bytes ? field.made.filter((part) => overlaps(part.range, span.bytes)) : field.made;
    found.push(...parts.map((part) => part.made));
    if (parts.length === 0) found.push(field.label);
  }
  return found;
}

function tell(text, words, places) {
  const count = places === undefined ? null : ` · ${counted(places, 'place')} in the prompt`;
  $('tip').replaceChildren(element('b', {}, text), ` ${words}`, count || '');
}

function chooseSpan(at) {
  clear();
  const span = index.spans[at];
  light([span.made], 'on');
  const others = index.spans.filter((other) => other !== span && (span.literal
    ? overlaps(other.literal, span.literal)
    : other.paths.some((path) => span.paths.includes(path))));
  light(others.map((other) => other.made), 'also');
  const found = span.literal ? inSource(span.literal) : inFields(span);
  light(found.filter((one) => !one.classList.contains('name')), 'on');
  if (found.length > 0) reveal(found[0]);
  tell('', `bytes ${span.range[0]}–${span.range[1]}: ${span.words}`);
}

function chooseField(field) {
  clear();
  light([field.whole], 'is-on');
  light(field.made.map((part) => part.made), 'on');
  const places = index.spans.filter((span) => span.paths.some((path) => within(path, field.path)));
  light(places.map((span) => span.made), 'on');
  if (places.length > 0) reveal(places[0].made);
  tell(field.path, '', places.length);
}

function chooseLiteral(range) {
  clear();
  light(inSource(range), 'on');
  const places = index.spans.filter((span) => overlaps(span.literal, range));
  light(places.map((span) => span.made), 'on');
  if (places.length > 0) reveal(places[0].made);
  tell('', places.length > 0 ? places[0].words : '', places.length);
}

addEventListener('keydown', (event) => {
  if (event.key === 'Escape') { clear(); document.activeElement.blur(); tell('', index.help); }
});
tell('', index.help);
