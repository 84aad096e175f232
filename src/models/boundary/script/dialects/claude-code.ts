import { commandDescription, type Dialect } from './contract.ts'

export const claudeCode: Dialect = {
  agent: 'Claude Code',
  marks: ['Bash', 'Read', 'Write', 'Edit', 'Agent', 'Task'],
  words: {
    run: [{ tool: 'Bash', input: ({ command }) => ({ command, description: commandDescription }) }],
    write: [
      { tool: 'Write', input: ({ path, content }, view) => ({ file_path: view.absolute(path), content }) },
    ],
    edit: [
      {
        tool: 'Edit',
        input: (act, view) => ({
          file_path: view.absolute(act.path),
          old_string: act.old,
          new_string: act.new,
        }),
      },
    ],
    read: [{ tool: 'Read', input: ({ path }, view) => ({ file_path: view.absolute(path) }) }],
    // In the background, which is the default of newer versions, the order of the turns would be left to chance.
    subagent: ['Agent', 'Task'].map((tool) => ({
      tool,
      input: ({ description, prompt, type = 'general-purpose' }) => ({
        description,
        prompt,
        subagent_type: type,
        ...(tool === 'Agent' && { run_in_background: false }),
      }),
    })),
  },
}
