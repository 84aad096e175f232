import { describeAgent } from './support/agent.conformance.ts'

describeAgent('codex', {
  id: 'codex',
  config: { driver: 'codex' },
  model: 'gpt-5.5',
  lacks: {
    own_cost: 'it tells tokens, never money',
    subagent_parent: 'it tells that a subagent works, not what it does',
  },
})
