import { agentKind } from '../agent-kind.ts'
import type { CliAgent } from '../cli/contract.ts'
import { createCliAgent } from '../cli/create-cli-agent.ts'
import { launchGemini } from './launch.ts'
import { type GeminiAgentConfig, geminiAgentSchema } from './schema.ts'
import { createStreamParser } from './stream.ts'

/** Google's Gemini CLI. It reports tokens but no prices. */
export const gemini: CliAgent<GeminiAgentConfig> = {
  driver: 'gemini',
  program: 'gemini',
  install: 'npm install --global @google/gemini-cli@0.61.0',
  supported: { from: '0.61.0', below: '1.0.0' },
  credentials: [
    'GEMINI_API_KEY',
    'GOOGLE_API_KEY',
    'GOOGLE_GENAI_USE_VERTEXAI',
    'GOOGLE_GENAI_USE_GCA',
    'GOOGLE_CLOUD_PROJECT',
    'GOOGLE_CLOUD_LOCATION',
    'GOOGLE_APPLICATION_CREDENTIALS',
    'GOOGLE_GEMINI_BASE_URL',
    'GOOGLE_VERTEX_BASE_URL',
  ],
  reportsCost: false,
  launch: launchGemini,
  createParser: createStreamParser,
  hasKey(env) {
    const has = (name: string): boolean => (env[name] ?? '') !== ''
    if (has('GEMINI_API_KEY') || has('GOOGLE_API_KEY')) return true
    return env.GOOGLE_GENAI_USE_VERTEXAI === 'true' && has('GOOGLE_APPLICATION_CREDENTIALS')
  },
}

export const geminiKind = agentKind({
  schema: geminiAgentSchema,
  hooks: 'gemini',
  create: (agent) => createCliAgent(gemini, agent),
})
