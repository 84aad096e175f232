import type { Acts, Word } from './contract.ts'

export const patchWrite: Word<Acts['write']> = {
  tool: 'apply_patch',
  input: ({ path, content }, view) => addFilePatch(view.relative(path), content),
}

/** Knows whole lines only, and so has to look at the file as it is now. */
export const patchEdit: Word<Acts['edit']> = {
  tool: 'apply_patch',
  input: (act, view) => {
    const text = view.read(act.path)
    return text === null ? null : updateFilePatch(view.relative(act.path), text, act.old, act.new)
  },
}

/** Acts on files in the language of Codex's apply_patch. null where it cannot say it: it knows whole lines only. */

export function addFilePatch(path: string, content: string): string | null {
  if (!isWholeLines(content)) return null
  const lines = linesOf(content).map((line) => `+${line}`)
  return patch([`*** Add File: ${path}`, ...lines])
}

/** `text` is what the file holds now: a patch names the whole lines around what changes. */
export function updateFilePatch(path: string, text: string, old: string, replacement: string): string | null {
  const at = text.indexOf(old)
  if (at === -1 || text.indexOf(old, at + 1) !== -1 || !isWholeLines(text)) return null
  const start = at === 0 ? 0 : text.lastIndexOf('\n', at - 1) + 1
  // An end of line belongs to the line it ends.
  const lineEnd = text.indexOf('\n', at + old.length - 1) + 1
  const before = text.slice(start, lineEnd)
  const after = text.slice(start, at) + replacement + text.slice(at + old.length, lineEnd)
  if (after !== '' && !isWholeLines(after)) return null
  const changes = [...linesOf(before).map((line) => `-${line}`), ...linesOf(after).map((line) => `+${line}`)]
  return patch([`*** Update File: ${path}`, '@@', ...changes])
}

function patch(lines: readonly string[]): string {
  return ['*** Begin Patch', ...lines, '*** End Patch', ''].join('\n')
}

function isWholeLines(text: string): boolean {
  return text.endsWith('\n') && !text.includes('\r')
}

function linesOf(text: string): string[] {
  return text === '' ? [] : text.slice(0, -1).split('\n')
}
