import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { defineAgent } from 'gantry'

/** An agent without a model: it does the one thing it can, and reports it as events. */
export default defineAgent({
  name: 'tidy',
  version: '1.0.0',
  async run({ prompt, workspace, emit, signal }) {
    const file = join(workspace, 'notes.md')
    emit({ event: 'message', role: 'assistant', text: `I was asked to: ${prompt.trim()}` })
    emit({ event: 'tool_call', id: '1', tool: 'Write', input: { file_path: 'notes.md' } })
    const text = await readFile(file, { encoding: 'utf8', signal })
    await writeFile(file, text.replace(/TODO: /g, ''))
    emit({ event: 'tool_result', id: '1', output: 'written' })
    return 'All notes are done.'
  },
})
