import { useApi } from '../api/client.ts'
import { Answer, Empty } from '../parts/states.tsx'
import { RunTable } from './runs.tsx'

/** Evaluations of plugins, newest first. */
export function Plugins() {
  const list = useApi('listRuns', { query: { kind: 'plugin', limit: 200 } }, { refetchInterval: 10_000 })
  return (
    <>
      <h1>Plugins</h1>
      <Answer query={list} what="evaluations">
        {({ runs }) =>
          runs.length === 0 ? (
            <Empty title="No plugin was evaluated yet.">
              <p>
                In the directory of a plugin: <code>gantry plugin analyze .</code> reads its files,{' '}
                <code>gantry plugin run</code> tries whether each part fires when it should.
              </p>
            </Empty>
          ) : (
            <RunTable runs={runs} />
          )
        }
      </Answer>
    </>
  )
}
