import { commandDescription, type Dialect } from './contract.ts'

export const gemini: Dialect = {
  agent: 'Gemini CLI or Qwen Code',
  marks: ['run_shell_command', 'write_file', 'replace', 'read_file'],
  words: {
    run: [
      { tool: 'run_shell_command', input: ({ command }) => ({ command, description: commandDescription }) },
    ],
    write: [
      {
        tool: 'write_file',
        input: ({ path, content }, view) => ({ file_path: view.absolute(path), content }),
      },
    ],
    edit: [
      {
        tool: 'replace',
        input: (act, view) => ({
          file_path: view.absolute(act.path),
          instruction: 'Replace the text as scripted.',
          old_string: act.old,
          new_string: act.new,
        }),
      },
      {
        tool: 'edit',
        input: (act, view) => ({
          file_path: view.absolute(act.path),
          old_string: act.old,
          new_string: act.new,
        }),
      },
    ],
    read: [{ tool: 'read_file', input: ({ path }, view) => ({ file_path: view.absolute(path) }) }],
    subagent: [
      {
        tool: 'invoke_agent',
        input: ({ prompt, type = 'generalist' }) => ({ agent_name: type, prompt }),
      },
      {
        tool: 'task',
        input: ({ description, prompt, type = 'general-purpose' }) => ({
          description,
          prompt,
          subagent_type: type,
        }),
      },
    ],
    // A subagent of Gemini's has not ended before it calls this.
    finish: [{ tool: 'complete_task', input: ({ text }) => ({ result: { response: text } }) }],
  },
}
