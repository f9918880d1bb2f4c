// Drives an engine by Sabaki's own packages, as its windows would, and prints what Sabaki knows then.
//
//   node sabaki_games.js games ENGINE ARGUMENT…   what the state tracker knows after a game, an analysis and errors
//   node sabaki_games.js engine                   an engine made with Sabaki's package, that plays the first free point
//   node sabaki_games.js records FILE…            how Sabaki reads records, and how it writes them again

const {ControllerStateTracker, Engine} = require('@sabaki/gtp')
const sgf = require('@sabaki/sgf')

const [scenario, ...rest] = process.argv.slice(2)
const play = (color, vertex) => ({name: 'play', args: [color, vertex]})

// An analysis, until it has answered some lines of information; then any other command ends it.
async function analyze(tracker, name, args, wanted) {
  const lines = []
  let ended = null
  const answer = await tracker.controller.sendCommand({name, args}, ({line, end}) => {
    if (line.startsWith('info') || line.startsWith('play')) lines.push(line)
    if (!end && !ended && lines.length >= wanted) ended = tracker.controller.sendCommand({name: 'protocol_version'})
  })
  return {error: answer.error, lines, after: ended && (await ended).content}
}

async function games() {
  const [engine, ...args] = rest
  const tracker = ControllerStateTracker.fromController(engine, args)
  const {controller} = tracker
  const sent = []
  controller.on('command-sent', ({command}) => sent.push(command.name))
  const found = {}
  const board = async () => (await controller.sendCommand({name: 'list_stones', args: ['B']})).content

  found.name = (await controller.sendCommand({name: 'name', id: 7})).content
  found.knows = {}
  for (const name of ['lz-analyze', 'kata-analyze', 'analyze', 'genmove_analyze', 'undo', 'no-such-command'])
    found.knows[name] = await tracker.knowsCommand(name)

  const history = [play('B', 'E5'), play('W', 'C5'), play('B', 'E3'), play('W', 'E7')]
  await tracker.sync({komi: 5.5, boardsize: [9, 9], timeSettings: {mainTime: 0, byoyomiTime: 1, byoyomiStones: 1}, history})
  found.synced = structuredClone(tracker.state)
  found.move = (await tracker.queueCommand({name: 'genmove', args: ['B']})).content
  found.played = tracker.state.history.length

  sent.length = 0 // a click on an earlier move, and on another variation
  await tracker.sync({history: history.slice(0, 3)})
  found.undone = [...sent]
  await tracker.sync({history: [...history.slice(0, 2), play('B', 'G5')]})
  found.variation = await board()

  for (const name of ['analyze', 'lz-analyze', 'kata-analyze']) found[name] = await analyze(tracker, name, ['W', '5'], 3)
  const before = tracker.state.history.length
  found.genmove_analyze = await analyze(tracker, 'genmove_analyze', ['W', '5'], Infinity)
  found.tracked = tracker.state.history.slice(before)

  await tracker.sync({history: [{name: 'set_free_handicap', args: ['C3', 'G7']}, play('W', 'E5')]})
  found.handicap = await board()
  await tracker.sync({boardsize: [13, 13], history: []})
  found.placed = (await tracker.queueCommand({name: 'place_free_handicap', args: ['3']})).content
  found.tracked_handicap = structuredClone(tracker.state.history)
  found.refused = await tracker.sync({boardsize: [9, 13]}).catch(error => error.message)
  found.replayed = await tracker.sync({history: [play('B', 'C3'), play('W', 'C3')]}).catch(error => error.message)
  found.alive = (await controller.sendCommand({name: 'get_komi'})).content

  const code = new Promise(resolve => controller.once('stopped', ({signal}) => resolve(signal)))
  await controller.stop(60000)
  found.exit = await code
  return found
}

function serve() {
  const engine = new Engine('first', '1')
  let size = 9
  let taken = new Set()
  const points = () => [...Array(size * size).keys()].map(i => 'ABCDEFGHJ'[i % size] + (1 + Math.floor(i / size)))
  engine.command('boardsize', (command, out) => ((size = +command.args[0]), out.send('')))
  engine.command('clear_board', (_, out) => (taken.clear(), out.send('')))
  engine.command('komi', (_, out) => out.send(''))
  engine.command('play', (command, out) => (taken.add(command.args[1].toUpperCase()), out.send('')))
  engine.command('genmove', (_, out) => {
    const move = taken.size > 20 ? 'pass' : points().find(point => !taken.has(point))
    taken.add(move)
    out.send(move)
  })
  engine.command('quit', (_, out) => (out.end(), process.exit()))
  engine.start()
}

// A tree as nested lists: properties, then the children.
const nested = node => [node.data, ...node.children.map(nested)]

function records() {
  return rest.map(file => {
    const roots = sgf.parseFile(file)
    return {trees: roots.map(nested), written: sgf.stringify(roots)}
  })
}

const show = found => console.log(JSON.stringify(found))
if (scenario === 'games') games().then(show)
else if (scenario === 'engine') serve()
else show(records())
