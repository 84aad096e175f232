import type {
  AgentComponent,
  Analysis,
  CommandComponent,
  Components,
  HookComponent,
  McpServerComponent,
  PluginFinding,
  SkillComponent,
} from '../../src/plugin/analyze/contract.ts'
import { type PluginConfig, pluginConfigSchema } from '../../src/plugin/config/keys/schema.ts'

/** An analysis with the given components, for the tests of this room. */
export function sampleAnalysis(
  components: Partial<Components>,
  findings: readonly PluginFinding[] = [],
): Analysis {
  return {
    schema_version: 1,
    plugin_name: 'demo',
    plugin_path: '/plugins/demo',
    manifest: { name: 'demo' },
    preflight: {
      valid: true,
      plugin_path: '/plugins/demo',
      resolved_path: '/plugins/demo',
      manifest_path: '/plugins/demo/.claude-plugin/plugin.json',
      plugin_name: 'demo',
      errors: [],
      warnings: [],
    },
    components: { skills: [], agents: [], commands: [], hooks: [], mcp_servers: [], ...components },
    findings,
    listing: { budget_characters: 8_000, used_characters: 0, entries: [] },
    trigger_understanding: { skills: {}, agents: {}, commands: {}, hooks: {}, mcp_servers: {} },
    content_hash: 'x',
    plugin_load_result: null,
  }
}

export function sampleSkill(name: string, more: Partial<SkillComponent> = {}): SkillComponent {
  return {
    name,
    cli_name: `demo:${name}`,
    plugin: 'demo',
    path: `skills/${name}/SKILL.md`,
    description: `Use when the user asks to "greet a colleague" or "say hello".`,
    triggers: ['greet a colleague', 'say hello'],
    intents: [],
    allowed_tools: [],
    disable_model_invocation: false,
    user_invocable: true,
    ...more,
  }
}

export function sampleAgent(name: string, more: Partial<AgentComponent> = {}): AgentComponent {
  return {
    name,
    cli_name: `demo:${name}`,
    plugin: 'demo',
    path: `agents/${name}.md`,
    description: 'Reviews code for security problems.',
    model: 'inherit',
    tools: [],
    examples: [
      { context: '', user_message: 'Is my login safe?', expected_response: '', commentary: '' },
      {
        context: '',
        user_message: 'Look for injections in query.ts.',
        expected_response: '',
        commentary: '',
      },
    ],
    ...more,
  }
}

export function sampleCommand(name: string, more: Partial<CommandComponent> = {}): CommandComponent {
  return {
    name,
    cli_name: `demo:${name.replaceAll('/', ':')}`,
    plugin: 'demo',
    path: `commands/${name}.md`,
    description: 'Deploys.',
    namespace: '',
    invocation: `/demo:${name.replaceAll('/', ':')}`,
    argument_hint: null,
    arguments: [],
    allowed_tools: [],
    disable_model_invocation: false,
    ...more,
  }
}

export function sampleHook(
  event: string,
  matcher: string | null,
  more: Partial<HookComponent> = {},
): HookComponent {
  return {
    name: `${event}::${matcher ?? '*'}`,
    cli_name: `${event}:${matcher ?? '*'}`,
    plugin: 'demo',
    path: 'hooks/hooks.json',
    description: '',
    event,
    matcher,
    matching_tools: [],
    expected_behavior: 'unknown',
    handlers: [{ type: 'command', action: 'true', raw: { type: 'command', command: 'true' } }],
    ...more,
  }
}

export function sampleServer(name: string, more: Partial<McpServerComponent> = {}): McpServerComponent {
  return {
    name,
    cli_name: `plugin:demo:${name}`,
    plugin: 'demo',
    path: '.mcp.json',
    description: '',
    server_type: 'stdio',
    auth_required: false,
    env_vars: [],
    tool_prefix: `mcp__plugin_demo_${name}__`,
    known_tools: [],
    ...more,
  }
}

export function sampleConfig(said: Record<string, unknown> = {}): PluginConfig {
  return pluginConfigSchema.parse({ scope: { hooks: true, mcp_servers: true }, ...said })
}
