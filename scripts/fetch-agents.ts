// Installs the pinned agents that `npm test` runs, with `long` also those of `npm run test:all`. Whole-program tests use them too.
import { requireAgents } from './install-agents.ts'

requireAgents(process.argv[2] === 'long' ? ['main', 'long'] : ['main'])
