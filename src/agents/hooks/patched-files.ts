import type { PatchedFile } from '../../core/hook-event.ts'

/**
 * The files a patch in the format of `apply_patch` touches. Headers count wherever they stand and however they are indented,
 * as its readers are lenient: rather one file too many than one too few.
 */
export function patchedFiles(patch: string): readonly PatchedFile[] {
  const files: PatchedFile[] = []
  for (const line of patch.split(/\r\n|\n|\r/)) {
    // A line of content, not of the patch.
    if (line.startsWith('+') || line.startsWith('-')) continue
    const [, word, rest] = header.exec(line) ?? []
    const path = rest?.trim()
    if (word === undefined || path === undefined || path === '') continue
    const last = files.at(-1)
    if (word !== 'Move to') files.push({ path, change: changes[word as keyof typeof changes] })
    // One that moves nothing we know of still names a file that would be written.
    else if (last === undefined || last.to !== undefined) files.push({ path, change: 'add' })
    else files[files.length - 1] = { ...last, to: path }
  }
  return files
}

const changes = { 'Add File': 'add', 'Update File': 'update', 'Delete File': 'delete' } as const
const header = /^\s*\*\*\* (Add File|Update File|Delete File|Move to):(.*)$/
