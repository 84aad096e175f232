import { checkCustomPatterns } from '../sanitize/check-custom-patterns.ts'
import type { PluginConfig } from './keys/schema.ts'
import type { ConfigSources } from './layers.ts'
import { agentModelName, apiModelName } from './model-names.ts'

export interface SettledConfig {
  readonly config: PluginConfig
  readonly warnings: readonly string[]
  readonly problems: readonly { readonly path: readonly PropertyKey[]; readonly text: string }[]
}

/** Resolves keys that depend on each other: strategy, tools and models as every stage uses them. */
export function settleConfig(config: PluginConfig, sources: ConfigSources): SettledConfig {
  const { generation, execution, evaluation, output } = config
  const { session_isolation: isolation, session_strategy: strategy, ...rest } = execution
  const agentModel = agentModelName(execution.model)
  const saysTools = sources.has('execution.disallowed_tools')
  const settled: PluginConfig = {
    ...config,
    generation: { ...generation, model: apiModelName(generation.model) },
    execution: {
      ...rest,
      model: agentModel ?? execution.model,
      session_strategy: strategy ?? (isolation === true ? 'isolated' : 'batched_by_component'),
      disallowed_tools: saysTools ? execution.disallowed_tools : withoutAllowed(execution),
    },
    evaluation: { ...evaluation, model: apiModelName(evaluation.model) },
  }
  return {
    config: settled,
    warnings: [...isolationWarning(config), ...sanitizeWarning(config)],
    problems: [
      ...(agentModel === null ? [otherProvider(execution.model)] : []),
      ...(saysTools ? contradictions(execution) : []),
      ...checkCustomPatterns(output.sanitization).map(({ index, text }) => ({
        path: ['output', 'sanitization', 'custom_patterns', index, 'pattern'],
        text: `output.sanitization.custom_patterns[${index}]: ${text}`,
      })),
    ],
  }
}

function otherProvider(model: string): SettledConfig['problems'][number] {
  const text = `execution.model: Claude Code cannot use '${model}'; use an Anthropic model: opus, sonnet, haiku, or a full name`
  return { path: ['execution', 'model'], text }
}

/** The default list must not disallow what the user allows. */
function withoutAllowed({ allowed_tools, disallowed_tools }: PluginConfig['execution']): string[] {
  const allowed = new Set(allowed_tools.map(toolName))
  return disallowed_tools.filter((tool) => !allowed.has(tool))
}

/** `Bash(git *)` is a rule about Bash. */
function toolName(rule: string): string {
  return /^[^(]*/.exec(rule)?.[0].trim() ?? rule
}

function contradictions({
  allowed_tools,
  disallowed_tools,
}: PluginConfig['execution']): SettledConfig['problems'] {
  return disallowed_tools.flatMap((tool, index) => {
    const text = `execution.disallowed_tools: ${tool} is also in execution.allowed_tools; keep it in only one of them`
    return allowed_tools.includes(tool) ? [{ path: ['execution', 'disallowed_tools', index], text }] : []
  })
}

function isolationWarning({ execution }: PluginConfig): readonly string[] {
  const { session_isolation: isolation, session_strategy: strategy } = execution
  if (isolation === undefined) return []
  const instead = `execution.session_isolation is deprecated: write session_strategy: ${isolation ? 'isolated' : 'batched_by_component'}`
  return [strategy === undefined ? instead : `${instead}; session_strategy: ${strategy} is used`]
}

function sanitizeWarning({ output }: PluginConfig): readonly string[] {
  const { sanitize_transcripts, sanitize_logs, sanitization } = output
  const isAsked = sanitize_transcripts || sanitize_logs
  if (!isAsked || sanitization.enabled || sanitization.custom_patterns.length > 0) return []
  return [
    'output.sanitize_transcripts and sanitize_logs only cap long texts unless output.sanitization.enabled is true or custom_patterns are set; secrets are always hidden',
  ]
}
