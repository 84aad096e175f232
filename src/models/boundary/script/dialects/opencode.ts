import { commandDescription, type Dialect } from './contract.ts'

export const opencode: Dialect = {
  agent: 'opencode',
  marks: ['bash', 'write', 'edit', 'read', 'task'],
  words: {
    run: [{ tool: 'bash', input: ({ command }) => ({ command, description: commandDescription }) }],
    write: [
      { tool: 'write', input: ({ path, content }, view) => ({ filePath: view.absolute(path), content }) },
    ],
    edit: [
      {
        tool: 'edit',
        input: (act, view) => ({
          filePath: view.absolute(act.path),
          oldString: act.old,
          newString: act.new,
        }),
      },
    ],
    read: [{ tool: 'read', input: ({ path }, view) => ({ filePath: view.absolute(path) }) }],
    subagent: [
      {
        tool: 'task',
        input: ({ description, prompt, type = 'general' }) => ({ description, prompt, subagent_type: type }),
      },
    ],
  },
}
