import { agentKind } from '../agent-kind.ts'
import type { CliAgent } from '../cli/contract.ts'
import { createCliAgent } from '../cli/create-cli-agent.ts'
import { launchOpencode } from './launch.ts'
import { type OpencodeAgentConfig, opencodeAgentSchema } from './schema.ts'
import { createStreamParser } from './stream.ts'

const keys = [
  'ANTHROPIC_API_KEY',
  'OPENAI_API_KEY',
  'GOOGLE_GENERATIVE_AI_API_KEY',
  'GEMINI_API_KEY',
  'OPENROUTER_API_KEY',
  'GROQ_API_KEY',
  'MISTRAL_API_KEY',
  'DEEPSEEK_API_KEY',
  'XAI_API_KEY',
  'OPENCODE_API_KEY',
] as const

/** opencode. It reports tokens, and the price of every model it knows one for. */
export const opencode: CliAgent<OpencodeAgentConfig> = {
  driver: 'opencode',
  program: 'opencode',
  install: 'npm install --global opencode-ai@1.18.33',
  supported: { from: '1.18.18', below: '2.0.0' },
  credentials: keys,
  reportsCost: true,
  losesOutput: true,
  launch: launchOpencode,
  createParser: createStreamParser,
  // A login of the caller's own is in a file: without a key in the environment nothing can be said.
  isAuthenticated: (env) => (keys.some((name) => (env[name] ?? '') !== '') ? true : null),
}

export const opencodeKind = agentKind({
  schema: opencodeAgentSchema,
  hooks: 'opencode',
  create: (agent) => createCliAgent(opencode, agent),
})
