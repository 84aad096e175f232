/** File actions in the format of Codex's apply_patch. null where it cannot express them: it supports only whole lines. */

export function addFilePatch(path: string, content: string): string | null {
  if (!isWholeLines(content)) return null
  const lines = linesOf(content).map((line) => `+${line}`)
  return patch([`*** Add File: ${path}`, ...lines])
}

/** `text` is the current content of the file: a patch contains the whole lines around a change. */
export function updateFilePatch(path: string, text: string, old: string, replacement: string): string | null {
  const at = text.indexOf(old)
  if (at === -1 || text.indexOf(old, at + 1) !== -1 || !isWholeLines(text)) return null
  const start = at === 0 ? 0 : text.lastIndexOf('\n', at - 1) + 1
  // A line break belongs to the line it ends.
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
