'use strict';
// Some fonts lack the control pictures, so the page shows signs that every font has.
const SIGNS = { '\u240a': '↵', '\u2403': '■', '\u2409': '⇥', '\u240d': '←', '\u2421': 'DEL' };
const sign = (mark) => SIGNS[mark] || `^${String.fromCharCode(mark.charCodeAt(0) - 0x2400 + 64)}`;

// Text with its marks in quiet ink, and invisible characters in a box.
function marked(text) {
  return text.split(/([\u2400-\u2426]|⟦U\+[0-9A-F]+⟧)/).map((piece) => {
    if (/^[\u2400-\u2426]$/.test(piece)) return element('span', { class: 'mark', 'data-sign': sign(piece) }, piece);
    if (/^⟦/.test(piece)) return element('span', { class: 'hidden' }, piece.slice(1, -1));
    return piece;
  });
}
