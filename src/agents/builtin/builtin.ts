import { GantryError } from '../../core/error.ts'
import { version } from '../../core/version.ts'
import { sha256 } from '../../io/sha256.ts'
import { agentKind } from '../agent-kind.ts'
import type { AgentDriver, AgentProbe, ProbeContext } from '../contract.ts'
import { type BuiltinAgent, runBuiltin, systemPrompt } from './run.ts'
import { type BuiltinAgentConfig, builtinAgentSchema } from './schema.ts'
import { createTools } from './tools/index.ts'

/** An agent in this process: a model and six tools, which needs only an API key. */
export function createBuiltinAgent(agent: BuiltinAgent): AgentDriver {
  return {
    name: 'builtin',
    modelAccess: {
      credentials: [
        'ANTHROPIC_API_KEY',
        'OPENAI_API_KEY',
        'AGENT_LLM_BASE_URL',
        'AGENT_LLM_MODEL',
        'AGENT_LLM_API_KEY',
        'ANTHROPIC_BASE_URL',
        'OPENAI_BASE_URL',
        'GOOGLE_GEMINI_BASE_URL',
        'GOOGLE_GENERATIVE_AI_API_KEY',
        'GEMINI_API_KEY',
        'GOOGLE_API_KEY',
      ],
      reportsCost: true,
    },
    probe: (context) => probe(agent, context),
    run: (request) => runBuiltin(agent, request),
  }
}

async function probe({ config, openModel }: BuiltinAgent, { env }: ProbeContext): Promise<AgentProbe> {
  const found = { found: true, version, fingerprint: fingerprint(config) }
  try {
    await openModel(config.model ?? 'default', { env })
    return { ...found, authenticated: true }
  } catch (error) {
    if (!(error instanceof GantryError)) throw error
    const problem = [error.message, error.hint].filter((part) => part !== undefined).join('. ')
    return { ...found, authenticated: false, problem }
  }
}

function fingerprint({ model, instructions, max_turns, env }: BuiltinAgentConfig): string {
  const tools = createTools({ workspace: '/', env: {} }).map(({ name, description }) => [name, description])
  return sha256(JSON.stringify([version, model, max_turns, env, systemPrompt('', [instructions]), tools]))
}

export const builtinKind = agentKind({
  schema: builtinAgentSchema,
  hooks: 'in_process',
  create: createBuiltinAgent,
})
