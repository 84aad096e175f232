// Installs the pinned agents that `npm test` runs: whole-program tests use them too.
import { requireAgents } from './install-agents.ts'

requireAgents(['main'])
