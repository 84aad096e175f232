import type { Dialect } from './contract.ts'

export const builtin: Dialect = {
  agent: 'the builtin agent',
  marks: ['run', 'list', 'search'],
  words: {
    run: [{ tool: 'run', input: ({ command }) => ({ command }) }],
    write: [{ tool: 'write', input: ({ path, content }, view) => ({ path: view.relative(path), content }) }],
    edit: [{ tool: 'edit', input: (act, view) => ({ ...act, path: view.relative(act.path) }) }],
    read: [{ tool: 'read', input: ({ path }, view) => ({ path: view.relative(path) }) }],
  },
}
