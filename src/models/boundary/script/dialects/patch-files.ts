import { addFilePatch, updateFilePatch } from '../patch-words.ts'
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
