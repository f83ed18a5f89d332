// The editor of the exercises: CodeMirror with Python, cut down to what writing a few lines needs. Bundled by the build.
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { pythonLanguage } from "@codemirror/lang-python";
import { bracketMatching, indentOnInput, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { EditorState, StateEffect, StateField } from "@codemirror/state";
import { Decoration, drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers } from "@codemirror/view";
import { classHighlighter } from "@lezer/highlight";

const setMarked = StateEffect.define();
// The line that an error points at; writing anything takes the mark away.
const marked = StateField.define({
  create: () => Decoration.none,
  update(marks, transaction) {
    if (transaction.docChanged) marks = Decoration.none;
    for (const effect of transaction.effects) {
      if (!effect.is(setMarked)) continue;
      const line = effect.value >= 1 && effect.value <= transaction.state.doc.lines ? transaction.state.doc.line(effect.value) : null;
      marks = line ? Decoration.set([Decoration.line({ class: "cm-marked" }).range(line.from)]) : Decoration.none;
    }
    return marks;
  },
  provide: (field) => EditorView.decorations.from(field),
});

// Opens an editor in `parent`. `run` and `changed` are called without arguments.
export function edit(parent, { text, label, describedBy, run, changed }) {
  const view = new EditorView({
    parent,
    state: EditorState.create({
      doc: text,
      extensions: [
        // Before the defaults, which give Ctrl+Enter another meaning.
        keymap.of([{ key: "Mod-Enter", run: () => (run(), true) }]),
        lineNumbers(),
        history(),
        drawSelection(),
        indentOnInput(),
        bracketMatching(),
        highlightActiveLine(),
        marked,
        indentUnit.of("    "),
        EditorState.tabSize.of(4),
        keymap.of([indentWithTab, ...defaultKeymap, ...historyKeymap]),
        pythonLanguage,
        syntaxHighlighting(classHighlighter),
        EditorView.contentAttributes.of({ tabindex: "0", "aria-label": label, "aria-describedby": describedBy, translate: "no" }),
        EditorView.updateListener.of((update) => update.docChanged && changed()),
      ],
    }),
  });
  return {
    get text() {
      return view.state.doc.toString();
    },
    set text(value) {
      view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: value } });
    },
    mark(line) {
      view.dispatch({ effects: setMarked.of(line) });
    },
    focus() {
      view.focus();
    },
  };
}
