import { join } from 'node:path'
import { copyTree } from '../../io/copy-tree.ts'
import { removeTree } from '../../io/files.ts'
import { randomSuffix } from '../../io/ids.ts'
import type { PluginConfig } from '../config/keys/schema.ts'
import type { ExecuteContext } from './request.ts'

export interface FrozenTemplate extends Disposable {
  /** The configuration, with the copy in the place of the directory. */
  config(): Promise<PluginConfig>
}

/** The directory that workspaces are copies of, as it is now: whoever works in it meanwhile changes no scenario. */
export function freezeTemplate({
  config,
  workDir,
}: Pick<ExecuteContext, 'config' | 'workDir'>): FrozenTemplate {
  const { execution } = config
  const copy = join(workDir, `template-${randomSuffix(8)}`)
  return {
    async config() {
      if (execution.cwd === undefined) return config
      await copyTree(execution.cwd, copy)
      return { ...config, execution: { ...execution, cwd: copy } }
    },
    [Symbol.dispose]: () => {
      if (!config.debug) removeTree(copy)
    },
  }
}
