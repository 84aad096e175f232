import type {
  AgentComponent,
  Analysis,
  CommandComponent,
  Components,
  HookComponent,
  McpServerComponent,
} from '../../src/plugin/analyze/contract.ts'
import { noComponents, skillOf } from './plugin-trial.ts'

/** A plugin with a component of every kind, as far as cases need to know it. */
export function partsOf(
  path: string,
  change: Partial<Components> = {},
): Pick<Analysis, 'plugin_name' | 'plugin_path' | 'manifest' | 'components'> {
  return {
    plugin_name: 'demo',
    plugin_path: path,
    manifest: { name: 'demo' },
    components: {
      ...noComponents,
      skills: [skillOf('greet'), skillOf('greet-formally')],
      agents: [agentOf('reviewer')],
      commands: [commandOf('deploy/staging')],
      hooks: [hookOf('PreToolUse', 'Write|Edit')],
      mcp_servers: [serverOf('weather')],
      ...change,
    },
  }
}

function agentOf(name: string): AgentComponent {
  return { ...facts(name, `demo:${name}`), model: 'inherit', tools: [], examples: [] }
}

function commandOf(name: string): CommandComponent {
  const cli_name = `demo:${name.replaceAll('/', ':')}`
  return {
    ...facts(name, cli_name),
    namespace: '',
    invocation: `/${cli_name}`,
    argument_hint: null,
    arguments: [],
    allowed_tools: [],
    disable_model_invocation: false,
  }
}

function hookOf(event: string, matcher: string): HookComponent {
  return {
    ...facts(`${event}::${matcher}`, `${event}:${matcher}`),
    event,
    matcher,
    matching_tools: matcher.split('|'),
    expected_behavior: 'unknown',
    handlers: [],
  }
}

function serverOf(name: string): McpServerComponent {
  return {
    ...facts(name, `plugin:demo:${name}`),
    server_type: 'stdio',
    auth_required: false,
    env_vars: [],
    tool_prefix: `mcp__plugin_demo_${name}__`,
    known_tools: [],
  }
}

function facts(name: string, cli_name: string) {
  return { name, cli_name, plugin: 'demo', path: 'x', description: '' }
}
