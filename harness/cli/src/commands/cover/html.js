legend([
  ['is-reached', 'all branches reached'],
  ['is-part', 'some branches missing'],
  ['is-never', 'never reached'],
]);
document.body.classList.add('of-coverage');

// The highlighted elements.
let lit = [];
function light(elements) {
  for (const one of lit) one.classList.remove('on');
  for (const one of elements) one.classList.add('on');
  lit = elements;
}

function tell(text, words) {
  $('tip').replaceChildren(element('b', {}, text), words ? ` ${words}` : '');
}

// The branches of a place, and the cases that take each.
function ways(site) {
  return element('dl', { class: 'ways' }, site.ways.map(([way, count, first]) => [
    element('dt', { class: count > 0 ? 'is-reached' : 'is-never' }, way),
    element('dd', {}, count > 0 ? counted(count, 'case') : 'no case', element('ul', {},
      first.map((name) => element('li', {}, name)),
      count > first.length && element('li', { class: 'quiet' }, `and ${(count - first.length).toLocaleString('en')} more`))),
  ]));
}

function show(template) {
  $('panes').replaceChildren();
  const chosen = [];
  const [source, made] = lines(template.source.map(([text, places]) => (places.length > 0
    ? [text, `is-${template.sites[places[0]].state}`, () => choose(places)]
    : [text, 'code'])));
  // The elements of each place.
  const parts = template.sites.map(() => []);
  template.source.forEach(([, places], at) => places.forEach((place) => parts[place].push(...made[at])));

  const gaps = template.sites.map((site, at) => [site, at]).filter(([site]) => site.missing);
  const entries = gaps.map(([site, at]) => {
    const entry = element('div', { class: 'gap', tabindex: '-1', role: 'button' },
      element('i', { class: `is-${site.state}` }), element('code', {}, site.place), ` ${site.kind} `,
      element('span', { class: 'quiet' }, site.missing));
    const go = () => { choose([at]); if (parts[at][0]) reveal(parts[at][0]); };
    entry.addEventListener('focus', go);
    entry.addEventListener('click', go);
    return entry;
  });
  pane('gaps', gaps.length > 0 ? counted(gaps.length, 'place with missing branches', 'places with missing branches') : 'all branches of all places are reached', entries);
  pane('source', `${template.file}: ${template.about}`, source);
  const details = pane('details', 'the place');

  function choose(places) {
    light(parts[places[0]]);
    details.replaceChildren(...places.map((place) => template.sites[place]).flatMap((site) => [
      element('h3', {}, `${site.kind} at ${site.place}`),
      element('p', { class: site.missing ? 'missing' : 'quiet' }, site.missing || 'all branches reached'),
      ways(site),
    ]));
    details.scrollTop = 0;
    const site = template.sites[places[0]];
    tell(`${site.kind} at ${site.place}`, `${counted(site.cases, 'case reaches', 'cases reach')} it${site.missing ? `: ${site.missing}` : ''}`);
  }
  details.append(element('p', { class: 'quiet' }, index.help));
  tell(template.name, template.about);
}

// The first template with missing branches.
const first = Math.max(0, index.templates.findIndex((template) => template.sites.some((site) => site.missing)));
if (index.templates.length > 1) {
  const picker = element('select', { 'aria-label': 'template' }, index.templates.map((template, at) => (
    element('option', { value: at }, `${template.name}  ${template.share}`))));
  picker.addEventListener('change', () => show(index.templates[picker.value]));
  picker.value = first;
  $('title').after(picker);
}
if (index.templates.length > 0) show(index.templates[first]);
