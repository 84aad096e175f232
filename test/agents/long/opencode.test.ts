import { describeAgent } from '../support/agent.conformance.ts'

describeAgent('opencode', {
  id: 'opencode',
  config: { driver: 'opencode' },
  model: 'gpt-4.1',
  startMs: 25_000,
  lacks: {
    own_cost: 'it prices only models of its own list',
    subagent_parent: 'it tells that a subagent works, not what it does',
  },
})
