import { resolve } from 'node:path'
import { newestSession } from '../../guard/trace/read-trace.ts'
import { findRoot, guardHome, ledgerPlace } from '../../guard-engine/ledger/ledger-place.ts'
import { readSettings } from '../../guard-engine/settings/read-settings.ts'
import { stateDirectory } from '../../guard-engine/views/state-directory.ts'
import { isFile } from '../../io/path-kind.ts'
import type { TraceSources } from './show-trace.ts'

/** The project the command is called in. Broken settings do not keep anybody from reading what happened. */
export const traceSources: TraceSources = {
  project: async ({ cwd, env }) => {
    const root = findRoot(cwd)
    const { settings } = await readSettings({ root, env, userDir: guardHome(env) })
    const state = stateDirectory(root, settings.state.dir)
    return {
      // Where none is written, older ones may still lie.
      stateDir: state.kind === 'usable' ? state.path : resolve(root, settings.state.dir),
      editThreshold: settings.loopDetection.editThreshold,
    }
  },
  sessionLedgerPath: async (session, { cwd, env }) => {
    const root = findRoot(cwd)
    const home = guardHome(env)
    if (session === 'latest') return newestSession(home, root)
    const { session: path } = ledgerPlace(home, root, session)
    return isFile(path) ? path : null
  },
}
