import { dirname } from 'node:path'
import { commandDescription, type Dialect, slug } from './contract.ts'
import { patchEdit, patchWrite } from './patch-files.ts'

export const copilot: Dialect = {
  agent: 'Copilot CLI',
  marks: ['view', 'create', 'read_bash'],
  words: {
    run: [
      { tool: 'bash', input: ({ command }) => ({ command, description: commandDescription, mode: 'sync' }) },
    ],
    write: [
      {
        tool: 'create',
        // It neither replaces a file nor makes a directory.
        input: ({ path, content }, view) =>
          view.exists(path) === true || view.exists(dirname(path)) === false
            ? null
            : { path: view.absolute(path), file_text: content },
      },
      patchWrite,
    ],
    edit: [
      {
        tool: 'edit',
        input: (act, view) => ({ path: view.absolute(act.path), old_str: act.old, new_str: act.new }),
      },
      patchEdit,
    ],
    read: [{ tool: 'view', input: ({ path }, view) => ({ path: view.absolute(path) }) }],
    subagent: [
      {
        tool: 'task',
        input: ({ description, prompt, type = 'general-purpose' }) => ({
          name: slug(description, '-'),
          description,
          prompt,
          agent_type: type,
          mode: 'sync',
        }),
      },
    ],
  },
}
