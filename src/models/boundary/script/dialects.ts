import { dirname } from 'node:path'
import type { ScriptCall } from './call-schema.ts'
import { spawnAgent } from './subagent-wait.ts'
import type { WorkspaceView } from './workspace-view.ts'

/** The actions of a script that do not depend on the agent. `finish`: for agents that must submit the final text with a tool. */
export type AgentActions = {
  readonly [Name in 'write' | 'edit' | 'read' | 'subagent']: NonNullable<ScriptCall[Name]>
} & { readonly run: { readonly command: string }; readonly finish: { readonly text: string } }

/** A tool that performs the action. `input` is null when this tool cannot do it; then the next one is tried. */
export interface Word<Name extends keyof AgentActions> {
  readonly tool: string
  /** Usable when this tool is offered, although it is not offered itself. */
  readonly comesWith?: string
  input(act: AgentActions[Name], view: WorkspaceView): unknown
  /** An additional call to make at the same time. */
  readonly also?: { readonly tool: string; readonly input: unknown }
}

export interface Dialect {
  readonly agent: string
  /** A request that offers one of these tools is from this agent. */
  readonly marks: readonly string[]
  readonly words: { readonly [Name in keyof AgentActions]?: readonly Word<Name>[] }
}

/** A shell that requires a description of each command. */
function describedShell(tool: string, more: object = {}): Word<'run'> {
  return { tool, input: ({ command }) => ({ command, description: 'Scripted command', ...more }) }
}

/** File tools that take absolute paths, by the names of their fields. */
function fileWords(pathField: string, oldField: string, newField: string) {
  return {
    write: (tool: string): Word<'write'> => ({
      tool,
      input: ({ path, content }, view) => ({ [pathField]: view.absolute(path), content }),
    }),
    edit: (tool: string, more: object = {}): Word<'edit'> => ({
      tool,
      input: (act, view) => ({
        [pathField]: view.absolute(act.path),
        ...more,
        [oldField]: act.old,
        [newField]: act.new,
      }),
    }),
    read: (tool: string): Word<'read'> => ({
      tool,
      input: ({ path }, view) => ({ [pathField]: view.absolute(path) }),
    }),
  }
}

const snake = fileWords('file_path', 'old_string', 'new_string')
const camel = fileWords('filePath', 'oldString', 'newString')
const short = fileWords('path', 'old_str', 'new_str')

const patchWrite: Word<'write'> = {
  tool: 'apply_patch',
  input: ({ path, content }, view) => addFilePatch(view.relative(path), content),
}

/** Supports only whole lines, so it needs the current content of the file. */
const patchEdit: Word<'edit'> = {
  tool: 'apply_patch',
  input: (act, view) => {
    const text = view.read(act.path)
    return text === null ? null : updateFilePatch(view.relative(act.path), text, act.old, act.new)
  },
}

function delegation(tool: string, usualType: string, more: object = {}): Word<'subagent'> {
  return {
    tool,
    input: ({ description, prompt, type = usualType }) => ({
      description,
      prompt,
      subagent_type: type,
      ...more,
    }),
  }
}

/** A task name that agents accept, made from a short text. */
function slug(text: string, joint: string): string {
  return text
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, joint)
    .slice(0, 60)
}

/** In the order in which they are tried: tool names that several agents use come last. */
export const dialects: readonly Dialect[] = [
  {
    agent: 'Claude Code',
    marks: ['Bash', 'Read', 'Write', 'Edit', 'Agent', 'Task'],
    words: {
      run: [describedShell('Bash')],
      write: [snake.write('Write')],
      edit: [snake.edit('Edit')],
      read: [snake.read('Read')],
      subagent: [
        // Newer versions run it in the background by default, which would make the order of the turns random.
        delegation('Agent', 'general-purpose', { run_in_background: false }),
        delegation('Task', 'general-purpose'),
      ],
    },
  },
  {
    agent: 'Copilot CLI',
    marks: ['view', 'create', 'read_bash'],
    words: {
      run: [describedShell('bash', { mode: 'sync' })],
      write: [
        {
          tool: 'create',
          // It can neither replace a file nor create a directory.
          input: ({ path, content }, view) =>
            view.exists(path) === true || view.exists(dirname(path)) === false
              ? null
              : { path: view.absolute(path), file_text: content },
        },
        patchWrite,
      ],
      edit: [short.edit('edit'), patchEdit],
      read: [short.read('view')],
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
  },
  {
    agent: 'Codex',
    // Not apply_patch: other agents offer it for some models, with a different input.
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
  },
  {
    agent: 'Gemini CLI or Qwen Code',
    marks: ['run_shell_command', 'write_file', 'replace', 'read_file'],
    words: {
      run: [describedShell('run_shell_command')],
      write: [snake.write('write_file')],
      edit: [snake.edit('replace', { instruction: 'Replace the text as scripted.' }), snake.edit('edit')],
      read: [snake.read('read_file')],
      subagent: [
        { tool: 'invoke_agent', input: ({ prompt, type = 'generalist' }) => ({ agent_name: type, prompt }) },
        delegation('task', 'general-purpose'),
      ],
      // A Gemini subagent ends only when it calls this.
      finish: [{ tool: 'complete_task', input: ({ text }) => ({ result: { response: text } }) }],
    },
  },
  {
    agent: 'the builtin agent',
    marks: ['run', 'list', 'search'],
    words: {
      run: [{ tool: 'run', input: ({ command }) => ({ command }) }],
      write: [
        { tool: 'write', input: ({ path, content }, view) => ({ path: view.relative(path), content }) },
      ],
      edit: [{ tool: 'edit', input: (act, view) => ({ ...act, path: view.relative(act.path) }) }],
      read: [{ tool: 'read', input: ({ path }, view) => ({ path: view.relative(path) }) }],
    },
  },
  {
    agent: 'opencode',
    marks: ['bash', 'write', 'edit', 'read', 'task'],
    words: {
      run: [describedShell('bash')],
      write: [camel.write('write')],
      edit: [camel.edit('edit')],
      read: [camel.read('read')],
      subagent: [delegation('task', 'general')],
    },
  },
]

/** File actions in the format of Codex's apply_patch. null where it cannot express them: it supports only whole lines. */

export function addFilePatch(path: string, content: string): string | null {
  if (!isWholeLines(content)) return null
  const lines = linesOf(content).map((line) => `+${line}`)
  return patch([`*** Add File: ${path}`, ...lines])
}

/** `text` is the current content of the file: a patch contains the whole lines around a change. */
export function updateFilePatch(path: string, text: string, old: string, replacement: string): string | null {
  const at = text.indexOf(old)
  if (at === -1 || text.indexOf(old, at + 1) !== -1 || !isWholeLines(text)) return null
  const start = at === 0 ? 0 : text.lastIndexOf('\n', at - 1) + 1
  // A line break belongs to the line it ends.
  const lineEnd = text.indexOf('\n', at + old.length - 1) + 1
  const before = text.slice(start, lineEnd)
  const after = text.slice(start, at) + replacement + text.slice(at + old.length, lineEnd)
  if (after !== '' && !isWholeLines(after)) return null
  const changes = [...linesOf(before).map((line) => `-${line}`), ...linesOf(after).map((line) => `+${line}`)]
  return patch([`*** Update File: ${path}`, '@@', ...changes])
}

function patch(lines: readonly string[]): string {
  return ['*** Begin Patch', ...lines, '*** End Patch', ''].join('\n')
}

function isWholeLines(text: string): boolean {
  return text.endsWith('\n') && !text.includes('\r')
}

function linesOf(text: string): string[] {
  return text === '' ? [] : text.slice(0, -1).split('\n')
}
