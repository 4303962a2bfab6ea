# SPDX-License-Identifier: Apache-2.0
# `python -m mcz.torch align` and `merge` read and write folders of Hugging Face: by weights and by activations a planted
# permutation is found again bit for bit, the other network's outputs stay the same, from_pretrained loads the results, and
# other files are copied. Shards and bfloat16 work too. Mistakes leave no files.
need_torch 2.4 transformers
export OMP_NUM_THREADS=1
cat >nets.py <<'END'
import os, sys
import mcz.torch, numpy as np, torch, transformers as t

CONFIGS = {
    "gpt2": t.GPT2Config(vocab_size=40, n_positions=16, n_embd=16, n_layer=1, n_head=2, bos_token_id=0, eos_token_id=0),
    "llama": t.LlamaConfig(vocab_size=40, hidden_size=16, intermediate_size=24, num_hidden_layers=1, num_attention_heads=4,
                           num_key_value_heads=2, max_position_embeddings=32),
    "vit": t.ViTConfig(hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=24, image_size=16,
                       patch_size=8, num_labels=5)}
CLASSES = {"gpt2": t.GPT2LMHeadModel, "llama": t.LlamaForCausalLM, "vit": t.ViTForImageClassification}


def load(kind, folder):
    net, info = CLASSES[kind].from_pretrained(folder, output_loading_info=True)
    assert not any(info[k] for k in ("missing_keys", "unexpected_keys", "mismatched_keys")), info
    return net.eval()


def inputs(kind, n):
    g = torch.Generator().manual_seed(5)
    if kind == "vit":
        return {"pixel_values": torch.rand(n, 3, 16, 16, generator=g)}
    return {"input_ids": torch.randint(40, (n, 8), generator=g)}


def make(kind):
    for seed, name in enumerate("ab"):
        torch.manual_seed(seed)
        net = CLASSES[kind](CONFIGS[kind]).eval()
        with torch.no_grad():
            for v in net.parameters():
                v.add_(.05 * torch.randn(v.shape))
        net = net.to(torch.bfloat16) if kind == "llama" else net
        net.save_pretrained(name, max_shard_size="4KB" if kind == "llama" else "1GB")
        if name == "a":
            net.config.use_cache = False
            x = inputs(kind, 2)
            groups = mcz.torch.groups(net, x, progress=False)
            order = {g: np.random.default_rng(3).permutation(n) for g, n in groups.sizes.items()}
            mcz.torch.permute(net, order, groups).save_pretrained("planted")
    np.save("x.npy", next(iter(inputs(kind, 64).values())).numpy())
    assert kind != "llama" or len([n for n in os.listdir("a") if n.endswith(".safetensors")]) > 1


def check(kind):
    a, b, again, aligned, mean = (load(kind, n) for n in ("a", "b", "again", "aligned", "mean"))
    assert all(torch.equal(u, v) for u, v in zip(a.state_dict().values(), again.state_dict().values()))
    x = inputs(kind, 4)
    mixed = {k: (.75 * v.double() + .25 * aligned.state_dict()[k].double()).to(mean.dtype) for k, v in a.state_dict().items()}
    assert mean.dtype == (torch.bfloat16 if kind == "llama" else torch.float32)
    assert all((v.double() - mixed[k].double()).abs().max() <= 2**-8 * v.abs().max() for k, v in mean.state_dict().items())
    assert any(not torch.equal(v, aligned.state_dict()[k]) for k, v in b.state_dict().items())
    with torch.no_grad():
        before, after = (n.float()(**x).logits for n in (b, aligned))
    assert (before - after).abs().max() < 1e-5, (before - after).abs().max()


{"make": make, "check": check}[sys.argv[1]](sys.argv[2])
END
mcz() { $python -m mcz.torch "$@"; }
for kind in gpt2 llama vit; do
    mkdir $kind && cd $kind
    $python ../nets.py make $kind 2>err || die "$kind: $(<err)"
    echo words >b/tokenizer.txt && echo old >b/pytorch_model.bin
    data=()
    [ $kind = llama ] || data=(--data x.npy) # the planted permutation by activations, or by weights
    mcz align a planted "${data[@]}" -o again >out 2>err || die "$kind: $(<err)"
    expect_words out 'again: * of * groups'
    mcz align a b -o aligned/ >out 2>err || die "$kind: $(<err)"
    same b/tokenizer.txt aligned/tokenizer.txt
    same b/config.json aligned/config.json
    [ ! -e aligned/pytorch_model.bin ] || die 'old weights are copied'
    mcz merge a aligned -t .25 -o mean 2>err || die "$kind: $(<err)"
    expect_equal "$(<err)" ''
    $python ../nets.py check $kind 2>err || die "$kind: $(<err)"
    cd ..
done

cp -r gpt2/a other
sed -i 's/^{/{"id2label": {"0": "no", "1": "yes"},/' other/config.json
echo a >gpt2/a/vocab.txt && echo b >other/vocab.txt
mcz merge gpt2/a other -o mean 2>err || die "$(<err)"
expect_words err 'warning: * differ in vocab.txt, id2label in config.json: use'
rm gpt2/a/vocab.txt

cp -r gpt2/a lacks
touch before log err && ls -A >before
$python - >log 2>err <<'END' || die "$(<err)"
import contextlib, io, sys
from mcz.modules import program
from safetensors.torch import load_file, save_file

tensors = load_file("lacks/model.safetensors")
del tensors["transformer.ln_f.weight"]
save_file(tensors, "lacks/model.safetensors", {"format": "pt"})
for status, words, arguments in [
        (3, "gpt2/mean: exists", "align gpt2/a gpt2/b -o gpt2/mean"),
        (3, "x/y: its folder is missing", "merge gpt2/a gpt2/b -o x/y"),
        (3, "none: config.json expected", "align none gpt2/b -o x"),
        (3, "gpt2/a and vit/b: networks of one class expected", "align gpt2/a vit/b -o x"),
        (3, "-t must be from 0 to 1", "merge gpt2/a gpt2/b -t 2 -o x"),
        (3, "vit/x.npy: token ids (N, T) expected", "align gpt2/a gpt2/b --data vit/x.npy -o x"),
        (3, "lacks: tensors of GPT2LMHeadModel are missing", "merge gpt2/a lacks -o x"),
        (1, "No such file", "align gpt2/a gpt2/b --data none.npy -o x")]:
    sys.argv[1:], found = arguments.split(), io.StringIO()
    with contextlib.redirect_stderr(found):
        assert program.main() == status, (arguments, found.getvalue())
    assert words in found.getvalue() and found.getvalue().count("\n") == 1, (words, found.getvalue())
END
ls -A | diff before - || die 'something is left'
