import type { Project } from '../../config/load.ts'
import { version } from '../../core/version.ts'
import { couldWrite } from '../../io/check-writable.ts'
import { findProgram } from '../../io/find-program.ts'
import { openStore } from '../../store/open-store.ts'
import type { CliContext } from '../context.ts'
import type { Finding } from './finding.ts'

const wantedNode = 24

/** Gantry itself and what all its commands stand on. */
export function lookAtGantry(context: CliContext, project: Project): readonly Finding[] {
  return [
    { area: 'gantry', name: 'gantry', status: 'ok', detail: version },
    lookAtNode(),
    lookAtGit(context.env.PATH ?? ''),
    lookAtStore(context, project),
  ]
}

function lookAtNode(): Finding {
  const isNew = Number(process.versions.node.split('.')[0]) >= wantedNode
  return {
    area: 'gantry',
    name: 'node',
    status: isNew ? 'ok' : 'missing',
    detail: isNew ? process.versions.node : `${process.versions.node} is older than ${wantedNode}`,
  }
}

function lookAtGit(path: string): Finding {
  const program = findProgram('git', path)
  return program === null
    ? {
        area: 'gantry',
        name: 'git',
        status: 'lacking',
        detail: 'not on the PATH: runs will not say which commit they are of',
        fix: 'sudo apt-get install git',
      }
    : { area: 'gantry', name: 'git', status: 'ok', detail: program }
}

function lookAtStore({ cwd, env }: CliContext, project: Project): Finding {
  const own = env.AGENT_ARTIFACT_DIR ? undefined : project.config.results_path
  const { root } = openStore(own === undefined ? { env, cwd } : { env, cwd: project.root, root: own })
  return couldWrite(root)
    ? { area: 'gantry', name: 'store', status: 'ok', detail: root }
    : {
        area: 'gantry',
        name: 'store',
        status: 'missing',
        detail: `${root} cannot be written`,
        fix: 'export AGENT_ARTIFACT_DIR=DIR-YOU-CAN-WRITE',
      }
}
