// Shows a board of Grafana with answers that board.py asked, by the components that Grafana's own panels are made of.
// test/tools/board.sh bundles this and shows it; "window.answers" is there by then.
//
// Grafana's panels themselves are in its server alone, and no package has them.  So what a panel does of a component stands here: which
// defaults its options have, how answers of Prometheus become frames, which component shows them.

import { createRoot } from 'react-dom/client';
import { firstValueFrom, of } from 'rxjs';
import {
	Registry, ThemeContext, VizOrientation, applyFieldOverrides, cacheFieldDisplayNames, createTheme, dateTime, getDisplayValueAlignmentFactors, getFieldDisplayValues,
	standardTransformers,
} from '@grafana/data';
import { BigValue, GlobalStyles, PanelChrome, TimeSeries, VizRepeater } from '@grafana/ui';
import { TableNG } from '@grafana/ui/unstable';
import '@fontsource/inter/latin-400.css';
import '@fontsource/inter/latin-500.css';
import info from './node_modules/@grafana/ui/dist/public/img/icons/unicons/info-circle.svg';
import up from './node_modules/@grafana/ui/dist/public/img/icons/unicons/arrow-up.svg';

// a page of the file system may fetch nothing
const icons = { 'info-circle': info, 'arrow-up': up };
window.fetch = async url => new Response(icons[url.match(/([\w-]+)\.svg$/)?.[1]] ?? '<svg xmlns="http://www.w3.org/2000/svg"/>', { headers: { 'content-type': 'image/svg+xml' } });

const { board, from, to, answers } = window.answers;
const theme = createTheme({ colors: { mode: 'dark' } });
const timeRange = { from: dateTime(from), to: dateTime(to), raw: board.time };
const timeZone = 'utc';
const replaceVariables = text => text;

// the grid of a board: 24 columns, rows of 30 pixels, 8 between
const WIDTH = 1200, GAP = 8, ROW = 30;
const place = ({ x, y, w, h }) => ({ left: x * (WIDTH + GAP) / 24, top: y * (ROW + GAP), width: w * (WIDTH + GAP) / 24 - GAP, height: h * (ROW + GAP) - GAP });

// what options are where a board does not say
const THRESHOLDS = { mode: 'absolute', steps: [{ color: 'green', value: null }, { color: 'red', value: 80 }] };
const DEFAULTS = {
	stat: { thresholds: THRESHOLDS, color: { mode: 'thresholds' } },
	table: { thresholds: THRESHOLDS, color: { mode: 'thresholds' }, custom: { align: 'auto', cellOptions: { type: 'auto' }, footer: { reducers: [] } } },
	timeseries: {
		thresholds: THRESHOLDS, color: { mode: 'palette-classic' },
		custom: {
			drawStyle: 'line', lineInterpolation: 'linear', lineWidth: 1, fillOpacity: 0, gradientMode: 'none', showPoints: 'auto', pointSize: 5, spanNulls: false,
			axisPlacement: 'auto', axisColorMode: 'text', scaleDistribution: { type: 'linear' }, stacking: { mode: 'none' }, thresholdsStyle: { mode: 'off' },
		},
	},
};

function fieldConfig(panel) {
	const { custom, ...defaults } = panel.fieldConfig.defaults;
	const config = { ...DEFAULTS[panel.type], ...defaults };

	config.thresholds = { ...config.thresholds, steps: config.thresholds.steps.map(step => ({ ...step, value: step.value ?? -Infinity })) };
	return { defaults: { ...config, custom: { ...DEFAULTS[panel.type].custom, ...custom } }, overrides: panel.fieldConfig.overrides };
}

// each property is taken as it stands
function fieldConfigRegistry({ defaults }) {
	const property = (isCustom, path) => ({ id: (isCustom ? 'custom.' : '') + path, name: path, path, isCustom, process: value => value, shouldApply: () => true, settings: {} });
	const { custom, ...others } = defaults;

	return new Registry(() => [...Object.keys(others).map(path => property(false, path)), ...Object.keys(custom).map(path => property(true, path))]);
}

const number = text => /^[+-]Inf$/.test(text) ? Number(text.replace('Inf', 'Infinity')) : Number(text);

// the name of a series, as Grafana's data source gives it
function named(target, labels) {
	return target.legendFormat ? target.legendFormat.replace(/\{\{\s*(\w+)\s*\}\}/g, (_, label) => labels[label] ?? label) : target.expr;
}

// one frame for each series, or for each target of a table one with labels as columns
function frames(panel) {
	return panel.targets.flatMap(target => {
		const result = answers[panel.id][target.refId];

		if (target.format === 'table') {
			const labels = [...new Set(result.flatMap(({ metric }) => Object.keys(metric)))].sort();

			return [{
				refId: target.refId, length: result.length,
				fields: [{ name: 'Time', type: 'time', config: {}, values: result.map(({ value }) => value[0] * 1000) },
					...labels.map(label => ({ name: label, type: 'string', config: { filterable: true }, values: result.map(({ metric }) => metric[label] ?? '') })),
					{ name: panel.targets.length > 1 ? `Value #${target.refId}` : 'Value', type: 'number', config: {}, values: result.map(({ value }) => number(value[1])) }],
			}];
		}
		return result.map(({ metric, values }) => ({
			refId: target.refId, length: values.length,
			fields: [{ name: 'Time', type: 'time', config: {}, values: values.map(([time]) => time * 1000) },
				{ name: 'Value', type: 'number', labels: metric, config: { displayNameFromDS: named(target, metric) }, values: values.map(([, value]) => number(value)) }],
		}));
	});
}

async function data(panel) {
	let made = frames(panel);
	const config = fieldConfig(panel);

	for (const { id, options } of panel.transformations ?? []) {
		const transformer = Object.values(standardTransformers).find(candidate => candidate.id === id);

		made = await firstValueFrom(of(made).pipe(transformer.operator({ ...transformer.defaultOptions, ...options }, { interpolate: replaceVariables })));
	}
	made = applyFieldOverrides({ data: made, fieldConfig: config, fieldConfigRegistry: fieldConfigRegistry(config), replaceVariables, theme, timeZone });
	cacheFieldDisplayNames(made);
	return made;
}

function Stat({ panel, frames, width, height }) {
	const { reduceOptions, colorMode, graphMode, textMode } = panel.options;
	const values = () => getFieldDisplayValues({ fieldConfig: fieldConfig(panel), reduceOptions, replaceVariables, theme, data: frames, sparkline: graphMode !== 'none', timeZone });

	return <VizRepeater getValues={values} source={frames} width={width} height={height} orientation={VizOrientation.Auto} autoGrid renderCounter={0} itemSpacing={3}
		getAlignmentFactors={getDisplayValueAlignmentFactors}
		renderValue={({ value, alignmentFactors, width, height, count }) =>
			<BigValue value={value.display} count={count} colorMode={colorMode} graphMode={graphMode} justifyMode="auto" textMode={textMode} alignmentFactors={alignmentFactors}
				text={{}} width={width} height={height} theme={theme} />} />;
}

const COMPONENTS = {
	stat: Stat,
	table: ({ panel, frames, width, height }) =>
		<TableNG data={frames[0]} width={width} height={height} noHeader={!panel.options.showHeader} sortBy={panel.options.sortBy} sortByBehavior="initial"
			cellHeight="sm" timeRange={timeRange} fieldConfig={fieldConfig(panel)} transparent={false} resizable structureRev={1} enableVirtualization={false} />,
	timeseries: ({ panel, frames, width, height }) =>
		<TimeSeries frames={frames} structureRev={1} width={width} height={height} timeRange={timeRange} timeZone={timeZone} legend={panel.options.legend} options={panel.options} />,
};

function Panel({ panel, frames }) {
	const { left, top, width, height } = place(panel.gridPos);
	const Shown = COMPONENTS[panel.type];

	return <div style={{ position: 'absolute', left, top, width, height }}>
		<PanelChrome title={panel.title} description={panel.description || undefined} width={width} height={height} padding={panel.type === 'table' ? 'none' : 'md'}>
			{(width, height) => <Shown panel={panel} frames={frames} width={width} height={height} />}
		</PanelChrome>
	</div>;
}

function Board({ shown }) {
	return <ThemeContext.Provider value={theme}>
		<GlobalStyles />
		<div style={{ position: 'relative', margin: GAP }}>
			{board.panels.map((panel, i) => <Panel key={panel.id} panel={panel} frames={shown[i]} />)}
		</div>
	</ThemeContext.Provider>;
}

document.body.style.margin = 0;
document.body.style.background = theme.colors.background.canvas;
Promise.all([document.fonts.load('14px Inter'), document.fonts.load('500 14px Inter')]).then(() => Promise.all(board.panels.map(data)))
	.then(shown => createRoot(document.getElementById('board')).render(<Board shown={shown} />));
