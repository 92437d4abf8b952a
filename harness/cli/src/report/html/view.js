const index = JSON.parse(document.getElementById('index').textContent);

// A pane: a part of the page that scrolls by itself. Tab stops at one of its pieces, and the arrow
// keys move from piece to piece.
function pane(id, title, ...children) {
  const body = element('div', { class: 'body', id }, children);
  const whole = element('section', { 'aria-label': title }, element('h2', {}, title), body);
  $('panes').append(whole);
  const pieces = () => [...body.querySelectorAll('[tabindex]')];
  const first = pieces()[0];
  if (first) first.tabIndex = 0;
  body.addEventListener('keydown', (event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (!step || event.altKey || event.ctrlKey || event.metaKey) return;
    const all = pieces();
    const next = all[all.indexOf(document.activeElement) + step];
    if (next) next.focus();
    event.preventDefault();
  });
  body.addEventListener('focusin', (event) => {
    for (const piece of pieces()) piece.tabIndex = piece === event.target ? 0 : -1;
  });
  return body;
}

// A piece of a text that can be selected with a click or with the keys.
function piece(text, name, choose) {
  const made = element('span', { class: `piece ${name}`, tabindex: '-1' }, marked(text));
  made.addEventListener('focus', choose);
  // The first click sets the focus, which selects it. So this handles only later clicks.
  made.addEventListener('click', () => { if (document.activeElement === made) choose(); });
  return made;
}

// Scrolls a pane, and nothing else, to an element.
function reveal(found) {
  const body = found.closest('.body');
  const [at, room] = [found.getBoundingClientRect(), body.getBoundingClientRect()];
  if (at.top >= room.top && at.bottom <= room.bottom) return;
  body.scrollTop += at.top - room.top - Math.max(0, (room.height - Math.min(at.height, room.height)) / 3);
}

// The lines of a source. Each piece has its text, the name of its style, and perhaps an action for its
// selection.
function lines(pieces) {
  const whole = element('pre', { class: 'lines' });
  let line = element('div');
  const made = pieces.map(([text, name, choose]) => {
    const parts = [];
    text.split('\n').forEach((part, at) => {
      if (at > 0) { whole.append(line); line = element('div'); }
      if (part === '') return;
      const shownPart = choose ? piece(part, name, choose) : element('span', { class: name }, marked(part));
      // A piece of several lines is one stop for the keys.
      if (choose && parts.length > 0) shownPart.removeAttribute('tabindex');
      if (choose && parts.length > 0) shownPart.addEventListener('click', choose);
      line.append(shownPart);
      parts.push(shownPart);
    });
    return parts;
  });
  whole.append(line);
  return [whole, made];
}

function legend(entries) {
  for (const [name, word, share] of entries) {
    $('legend').append(element('span', { title: share }, element('i', { class: name }), share ? `${word} ${share}` : word));
  }
}

$('title').textContent = index.title;
