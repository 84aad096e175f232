import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Components } from '../../src/plugin/analyze/contract.ts'
import type { ExecuteRequest } from '../../src/plugin/execute/request.ts'

export interface DemoOptions {
  /** Of the skill. */
  readonly description?: string
  readonly files?: Readonly<Record<string, string>>
}

/** As Claude Code fills it in. */
const root = `\${CLAUDE_PLUGIN_ROOT}`

/** A plugin with one component of each kind, written to `dir`. */
export function makeDemoPlugin(dir: string, options: DemoOptions = {}): ExecuteRequest['plugin'] {
  const { description = 'Use when somebody is to be greeted.' } = options
  const files = {
    '.claude-plugin/plugin.json': JSON.stringify({ name: 'demo', version: '1.0.0', description: 'A demo.' }),
    'skills/greet/SKILL.md': `---\nname: greet\ndescription: ${description}\n---\nSay hello, warmly.\n`,
    'agents/reviewer.md': '---\nname: reviewer\ndescription: Reviews code.\n---\nYou review code.\n',
    'commands/hi.md': '---\ndescription: Says hi.\nargument-hint: <name>\n---\nSay hi to $ARGUMENTS.\n',
    'hooks/hooks.json': JSON.stringify(hooks),
    'hooks/keep.sh': keep,
    '.mcp.json': JSON.stringify({
      mcpServers: { weather: { command: process.execPath, args: [`${root}/server.mjs`] } },
    }),
    'server.mjs': server,
    ...options.files,
  }
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, path)), { recursive: true })
    writeFileSync(join(dir, path), text)
  }
  return { plugin_name: 'demo', plugin_path: dir, components: demoComponents }
}

const own = { plugin: 'demo', description: '' }

export const demoComponents: Components = {
  skills: [
    {
      ...own,
      name: 'greet',
      cli_name: 'demo:greet',
      path: 'skills/greet/SKILL.md',
      triggers: [],
      intents: [],
      allowed_tools: [],
      disable_model_invocation: false,
      user_invocable: true,
    },
  ],
  agents: [
    {
      ...own,
      name: 'reviewer',
      cli_name: 'demo:reviewer',
      path: 'agents/reviewer.md',
      model: 'inherit',
      tools: [],
      examples: [],
    },
  ],
  commands: [
    {
      ...own,
      name: 'hi',
      cli_name: 'demo:hi',
      path: 'commands/hi.md',
      namespace: '',
      invocation: '/demo:hi',
      argument_hint: '<name>',
      arguments: ['name'],
      allowed_tools: [],
      disable_model_invocation: false,
    },
  ],
  hooks: [],
  mcp_servers: [
    {
      ...own,
      name: 'weather',
      cli_name: 'plugin:demo:weather',
      path: '.mcp.json',
      server_type: 'stdio',
      auth_required: false,
      env_vars: [],
      tool_prefix: 'mcp__plugin_demo_weather__',
      known_tools: [],
    },
  ],
}

const run = (command: string) => ({ hooks: [{ type: 'command', command }] })

const hooks = {
  hooks: {
    SessionStart: [run('echo begun')],
    SessionEnd: [run('echo ended')],
    PreToolUse: [{ matcher: 'Write|Edit', ...run(`sh "${root}/hooks/keep.sh"`) }],
    Stop: [run('echo stopped >&2')],
  },
}

/** Refuses every write to a file that is to be kept. */
const keep = `if grep -q '"file_path":"[^"]*kept.txt"'; then echo 'kept.txt is kept' >&2; exit 2; fi\n`

const server = `import { createInterface } from 'node:readline'
const results = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: 'weather', version: '1.0.0' },
  }),
  'tools/list': () => ({
    tools: [{ name: 'forecast', description: 'The weather to come.', inputSchema: { type: 'object', properties: { city: { type: 'string' } } } }],
  }),
  'tools/call': ({ arguments: { city } }) => ({ content: [{ type: 'text', text: 'sunny in ' + city }] }),
}
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line)
  if (id === undefined) return
  process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result: results[method]?.(params) ?? {} }) + '\\n')
})
`
