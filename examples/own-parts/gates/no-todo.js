import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { defineGate } from 'gantry'

/** Passes when no file of the workspace contains a marker of unfinished work. */
export default defineGate({
  type: 'no_todo',
  schema({ marker = 'TODO', ...unknown }) {
    const [key] = Object.keys(unknown)
    if (key !== undefined) throw new Error(`unknown key '${key}'`)
    if (typeof marker !== 'string' || marker === '') throw new Error("'marker' must be a text")
    return { marker }
  },
  async check({ marker }, { workspace }) {
    const entries = await readdir(workspace, { recursive: true, withFileTypes: true })
    const unfinished = []
    for (const entry of entries.filter((found) => found.isFile())) {
      const text = await readFile(join(entry.parentPath, entry.name), 'utf8')
      if (text.includes(marker)) unfinished.push(entry.name)
    }
    const passed = unfinished.length === 0
    return {
      passed,
      message: passed ? `no file contains ${marker}` : `${unfinished.join(', ')} contains ${marker}`,
      detail: { files: unfinished },
    }
  },
})
