import { spawnAgent } from '../conversation.ts'
import { type Dialect, slug } from './contract.ts'
import { patchEdit, patchWrite } from './patch-files.ts'

export const codex: Dialect = {
  agent: 'Codex',
  // Not apply_patch: other agents offer it for some models, with an input of their own.
  marks: ['exec_command', 'shell', 'shell_command'],
  words: {
    run: [
      { tool: 'exec_command', input: ({ command }) => ({ cmd: command }) },
      { tool: 'shell_command', input: ({ command }) => ({ command }) },
      { tool: 'shell', input: ({ command }) => ({ command: ['bash', '-lc', command] }) },
    ],
    write: [patchWrite],
    edit: [patchEdit],
    subagent: [
      {
        tool: 'collaboration.spawn_agent',
        input: ({ description, prompt }) => ({
          task_name: slug(description, '_'),
          message: prompt,
          fork_turns: 'none',
        }),
        also: { tool: 'collaboration.wait_agent', input: {} },
      },
      { tool: spawnAgent, comesWith: 'tool_search', input: ({ prompt }) => ({ message: prompt }) },
    ],
  },
}
